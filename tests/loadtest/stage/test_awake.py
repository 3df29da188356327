"""Tests what keeps cores awake."""

from pathlib import Path

import pytest

from loadtest.stage import awake as module
from loadtest.stage.awake import awake


@pytest.fixture
def latency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the file that Linux reads, on a virtual machine."""
    (tmp_path / "cpuinfo").write_text("flags : fpu hypervisor lahf_lm\n", encoding="utf-8")
    (tmp_path / "latency").touch()
    monkeypatch.setattr(module, "_CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(module, "_LATENCY", tmp_path / "latency")
    return tmp_path / "latency"


def _opened(file: Path) -> bool:
    return file in [descriptor.resolve() for descriptor in Path("/proc/self/fd").iterdir()]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_the_file_is_open_inside_the_context(latency: Path) -> None:
    """Linux heeds the value until the file is closed."""
    with awake():
        assert latency.read_bytes() == bytes(4)
        assert _opened(latency)
    assert not _opened(latency)


def test_not_on_a_computer(latency: Path) -> None:
    """A computer's cores sleep to stay cool, and a hot processor is slower."""
    module._CPU_INFO.write_text("flags : fpu lahf_lm\n", encoding="utf-8")
    with awake():
        assert latency.read_bytes() == b""


@pytest.mark.parametrize("missing", ["_CPU_INFO", "_LATENCY"])
def test_other_systems(latency: Path, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The context does nothing if one of Linux's files is missing."""
    monkeypatch.setattr(module, missing, tmp_path / "none")
    with awake():
        assert latency.read_bytes() == b""
