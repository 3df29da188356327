"""The variables that a local run sets for its service, and its file."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.settings import NEWEST, Release
from local.launch import defaults
from local.local_run import LocalRun, read_run
from local.lock import lock_run_dir


@pytest.mark.parametrize("each", list(Release), ids=str)
def test_the_published_releases_shed_no_load_by_time(each: Release) -> None:
    """v01 to v07 let a webhook wait, as the published service did; later releases keep the default."""
    assert defaults({}, each).get("APP_MAX_WAIT") == ("0" if each <= Release.V07_SYNC_HANDLER else None)


@pytest.mark.parametrize("given", ["5", "3"])
def test_a_limit_that_the_user_has_set(given: str) -> None:
    """APP_MAX_WAIT applies to every release; an empty one counts as not set."""
    assert "APP_MAX_WAIT" not in defaults({"APP_MAX_WAIT": given}, Release.V07_SYNC_HANDLER)
    assert defaults({"APP_MAX_WAIT": ""}, Release.V07_SYNC_HANDLER)["APP_MAX_WAIT"] == "0"


def test_credentials() -> None:
    """The credentials are demo:demo, unless the user has set a pair."""
    assert defaults({}, NEWEST)["APP_BASIC_AUTH_USERNAME"] == "demo"
    given = {"APP_BASIC_AUTH_USERNAME": "chargebee", "APP_BASIC_AUTH_PASSWORD": "8-characters"}
    assert not {"APP_BASIC_AUTH_USERNAME", "APP_BASIC_AUTH_PASSWORD"} & defaults(given, NEWEST).keys()


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "nested too deeply": lambda file: file.write_text("[" * 100_000, encoding="utf-8"),
    "a link to itself": lambda file: file.symlink_to(file),
    "no JSON": lambda file: file.write_text("{", encoding="utf-8"),
    "no object": lambda file: file.write_text("7", encoding="utf-8"),
    "a process id that is too large": lambda file: LocalRun(2**70, *["-"] * 7).write(file.parent),
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read(make: Callable[[Path], object], tmp_path: Path) -> None:
    """The error is one line that names the file and what to do."""
    make(tmp_path / "local.json")
    with pytest.raises(ConfigurationError, match=r"local\.json is not readable: delete it and start again"):
        read_run(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
def test_a_full_disk(tmp_path: Path) -> None:
    """The error is one line that names the folder."""
    (tmp_path / "local.json.new").symlink_to("/dev/full")
    with pytest.raises(ConfigurationError, match=r"cannot write local\.json: No space left on device$"):
        LocalRun(1, *["-"] * 7).write(tmp_path)


def test_the_file_of_a_killed_run(tmp_path: Path) -> None:
    """A new run has locked the folder, but the file still has the addresses of the killed one."""
    with subprocess.Popen([sys.executable, "-c", ""]) as killed:
        killed.wait()
    LocalRun(killed.pid, *["-"] * 7).write(tmp_path)
    with (
        lock_run_dir(tmp_path),
        pytest.raises(ConfigurationError, match=rf"has ended \(process {killed.pid} is gone\)"),
    ):
        read_run(tmp_path)
