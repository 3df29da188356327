"""The budgets, on the kernel of this machine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loadtest.stage.budget import LIMITS, MECHANISMS, Budget, Unavailable, cgroup_v2, open_budget, process_tree
from loadtest.stage.budget.docker import IMAGE, Docker

BURN = "import time\nwhile time.process_time() < 0.5: pass"
HOLD = "memory = bytearray(100 * 1024 * 1024)"
EAT = "memory = bytearray(600 * 1024 * 1024)"
pytestmark = pytest.mark.timeout(600)  # Docker may have to build its image first
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # Docker's exit code is a shell's


@pytest.fixture(params=[*MECHANISMS, process_tree.NAME])
def mechanism(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns a mechanism. If this machine does not have it, skips the test with the reason."""
    monkeypatch.setenv("LOADTEST_BUDGET", request.param)
    try:
        with open_budget("capped"):
            pass
    except Unavailable as reason:
        pytest.skip(str(reason))
    name: str = request.param
    return name


@contextmanager
def _running(budget: Budget, code: str) -> Iterator["subprocess.Popen[str]"]:
    """Starts a process in the budget. It runs `code` and then sleeps, because some budgets end with their process."""
    stays = f"{code}\nprint('ran', flush=True)\nimport time\ntime.sleep(60)"
    command = budget.command([sys.executable, "-c", stays], {})
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ran\n"
        budget.attach(process.pid)
        yield process
        process.kill()


def test_cpu_is_throttled(mechanism: str) -> None:
    """On a quarter of a core, half a second of CPU takes more than 1.5 s. The used CPU time is counted."""
    with open_budget("capped") as budget:
        if not budget.limited:
            pytest.skip(f"{mechanism} limits nothing")
        started = time.monotonic()
        with _running(budget, BURN):
            assert time.monotonic() - started > 1.5
            # The budget uses another clock, and includes the start of the interpreter.
            assert 0.45 <= budget.cpu_seconds() < 10


def test_the_peak_of_memory_is_counted(mechanism: str) -> None:
    """If the kernel reports the peak, it contains the 100 MiB that the process allocates."""
    with open_budget("capped") as budget, _running(budget, HOLD):
        peak = budget.peak_bytes()
        assert peak is None or 100 * 1024 * 1024 <= peak <= 512 * 1024 * 1024


def test_memory_is_limited(mechanism: str) -> None:
    """The kernel kills a process that allocates 600 MiB, because the limit is 512 MiB."""
    with open_budget("capped") as budget:
        if not budget.limited:
            pytest.skip(f"{mechanism} limits nothing")
        command = budget.command([sys.executable, "-c", EAT], {})
        assert subprocess.run(command, check=False).returncode in KILLED


def test_closing_kills_what_is_left(mechanism: str) -> None:
    """No process survives its budget."""
    with open_budget("burst") as budget:
        if not budget.limited:
            pytest.skip(f"{mechanism} limits nothing")
        with _running(budget, "") as process:
            budget.close()
            assert process.wait() in KILLED


def test_no_budget_is_not_limited(mechanism: str) -> None:
    """The budget `none` does not limit."""
    with open_budget("none") as budget:
        assert not budget.limited


def test_a_process_that_has_ended_has_no_peak() -> None:
    """The peak of an ended process is None, so an attack on a service that has died still has a result."""
    budget = process_tree.ProcessTree(LIMITS["none"])
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        budget.attach(process.pid)
        assert budget.peak_bytes() is None


def test_the_files_of_version_2(tmp_path: Path) -> None:
    """The budget writes and reads the files of cgroup v2, here in an ordinary folder, so that any machine will do."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n", encoding="utf-8")
    (tmp_path / "cgroup.subtree_control").write_text("cpu\n", encoding="utf-8")
    budget = cgroup_v2.CgroupV2(LIMITS["capped"], tmp_path)
    (group,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (tmp_path / "cgroup.subtree_control").read_text(encoding="utf-8") == "+cpu +memory"
    assert (group / "cpu.max").read_text(encoding="utf-8") == "25000 100000"
    assert (group / "memory.max").read_text(encoding="utf-8") == str(512 * 1024 * 1024)
    assert (group / "memory.swap.max").read_text(encoding="utf-8") == "0"
    (group / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n", encoding="utf-8")
    assert budget.cpu_seconds() == 1.5
    assert budget.peak_bytes() is None  # before Linux 5.19


def test_a_container_runs_the_python_of_its_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Docker's command line has the image's Python, also after `taskset`, which pins the subjects of a duet."""
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho 2\n", encoding="utf-8")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    budget = Docker(LIMITS["capped"])
    pinned = ["taskset", "--cpu-list", "0", sys.executable, "-m", "app", "web"]
    assert budget.command(pinned, {})[-8:] == ["--entrypoint=taskset", IMAGE, "--cpu-list", "0", "python", *pinned[4:]]
    assert budget.command(pinned[3:], {})[-5:] == ["--entrypoint=python", IMAGE, *pinned[4:]]


def test_an_unknown_one_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the wrong value and the allowed values."""
    monkeypatch.setenv("LOADTEST_BUDGET", "hope")
    with (
        pytest.raises(Unavailable, match="LOADTEST_BUDGET=hope: allowed is cgroup v2, cgroup v1, "),
        open_budget("none"),
    ):
        pass
