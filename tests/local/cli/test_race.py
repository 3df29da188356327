"""Tests `python -m local race` with two real services and one page."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.harness.processes import alive
from tests.harness.service import clean_environment
from tests.local.live.viewer import viewing


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop",
    [
        pytest.param(lambda pid: os.killpg(pid, signal.SIGINT), id="Ctrl-C"),
        pytest.param(lambda pid: os.kill(pid, signal.SIGTERM), id="kill"),
    ],
)
def test_two_services_and_one_page(stop: Callable[[int], None], tmp_path: Path) -> None:
    """Both services have metrics and answer; Ctrl-C and SIGTERM end all processes, and leave no file.

    Each line of a service's log begins with its release, until the last line.
    """
    command = [sys.executable, "-m", "local", "race", "v09", "v10"]
    with subprocess.Popen(
        command,
        env=clean_environment() | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as race:
        assert race.stdout is not None
        assert race.stderr is not None
        line = race.stdout.readline()
        assert line.startswith("v09_group_commit against v10_lean_client: http://127.0.0.1:")
        started = psutil.Process(race.pid).children(recursive=True)
        with viewing(re.findall(r"http\S+", line)[0]) as events:
            moments = (event.moment["services"] for event in events)
            next(both for both in moments if all("cpu" in one and not one["timed_out"] for one in both))
        stop(race.pid)
        assert race.wait(60) == 0
        assert len(started) >= 5
        assert alive(started) == []
        log = race.stderr.read()
    assert [*tmp_path.iterdir()] == []
    for name, release in (("v09", "v09_group_commit"), ("v10", "v10_lean_client")):
        lines = [line for line in log.splitlines() if line.startswith(f"{name} │ ")]
        assert any(re.search(rf"INFO +Listening on http://127\.0\.0\.1:\d+ with {release}", line) for line in lines)
        assert "Finished server process" in lines[-1]
