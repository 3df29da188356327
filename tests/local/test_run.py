"""Tests how a local run changes the settings of its service."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.local.run import LocalRun, deployed, read_run
from app.settings import Release, Settings

RUN = LocalRun(
    1, "http://127.0.0.1:1", "http://127.0.0.1:1/0/q", "http://127.0.0.1:1/0/d", "http://127.0.0.1:2", "key", "table"
)


def _max_wait(monkeypatch: pytest.MonkeyPatch, release: Release, **variables: str) -> float:
    for name, value in {"APP_LOCAL": "1", "APP_RELEASE": release.value, **variables}.items():
        monkeypatch.setenv(name, value)
    return deployed(Settings(), RUN).max_wait


@pytest.mark.parametrize("each", list(Release), ids=str)
def test_the_published_releases_shed_no_load_by_time(monkeypatch: pytest.MonkeyPatch, each: Release) -> None:
    """v01 to v07 let a webhook wait, as the published service did; later releases have their own default."""
    assert _max_wait(monkeypatch, each) == (0 if each <= Release.V07_SYNC_HANDLER else 5)


@pytest.mark.parametrize("each", [Release.V01_INLINE, Release.V07_SYNC_HANDLER, Release.V10_LEAN_CLIENT], ids=str)
def test_a_limit_that_the_user_has_set(monkeypatch: pytest.MonkeyPatch, each: Release) -> None:
    """APP_MAX_WAIT applies to every release, even if it is the default; an empty one counts as not set."""
    for seconds in ("5", "3"):
        assert _max_wait(monkeypatch, each, APP_MAX_WAIT=seconds) == float(seconds)
    assert _max_wait(monkeypatch, each, APP_MAX_WAIT="") == (5 if each is Release.V10_LEAN_CLIENT else 0)


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "nested too deeply": lambda file: file.write_text("[" * 100_000),
    "a link to itself": lambda file: file.symlink_to(file),
    "no JSON": lambda file: file.write_text("{"),
    "no object": lambda file: file.write_text("7"),
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read(make: Callable[[Path], object], tmp_path: Path) -> None:
    """The error names the file, in one line, and says how to go on."""
    make(tmp_path / "local.json")
    with pytest.raises(ConfigurationError, match=r"local\.json is not readable: delete it and start again"):
        read_run(tmp_path)
