"""Tests the wish that keeps cores awake."""

from pathlib import Path

import pytest

from local import awake as module
from local.awake import awake


@pytest.fixture
def wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file for the wish, on a virtual machine."""
    (tmp_path / "cpuinfo").write_text("flags : fpu hypervisor lahf_lm\n")
    (tmp_path / "latency").touch()
    monkeypatch.setattr(module, "_CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(module, "_LATENCY", tmp_path / "latency")
    return tmp_path / "latency"


def _opened(file: Path) -> bool:
    return file in [descriptor.resolve() for descriptor in Path("/proc/self/fd").iterdir()]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_the_wish_holds_inside_the_context(wish: Path) -> None:
    """Linux forgets the wish when the file is closed."""
    with awake():
        assert wish.read_bytes() == bytes(4)
        assert _opened(wish)
    assert not _opened(wish)


def test_not_on_a_computer(wish: Path) -> None:
    """A computer's cores sleep to stay cool, and a hot processor is slower."""
    module._CPU_INFO.write_text("flags : fpu lahf_lm\n")
    with awake():
        assert wish.read_bytes() == b""


@pytest.mark.parametrize("missing", ["_CPU_INFO", "_LATENCY"])
def test_other_systems(wish: Path, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Linux's files, the context does nothing."""
    monkeypatch.setattr(module, missing, tmp_path / "none")
    with awake():
        assert wish.read_bytes() == b""
