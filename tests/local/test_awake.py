"""Tests the processes that keep cores awake."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from local import awake as module
from local.awake import awake

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sched_setscheduler exists on Linux only")


@pytest.fixture(autouse=True)
def a_virtual_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("flags : fpu hypervisor lahf_lm\n")
    monkeypatch.setattr(module, "_CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 2)
    monkeypatch.setattr(module, "_LIMITS", {})


def _spinning(parent: psutil.Process) -> list[psutil.Process]:
    return [child for child in parent.children() if module._SPIN in child.cmdline()]


def test_one_process_for_each_core() -> None:
    """The processes use only the time that nothing else needs, and end with the context."""
    this = psutil.Process()
    with awake():
        spinning = _spinning(this)
        assert len(spinning) == len(os.sched_getaffinity(0))
        for process in spinning:
            while os.sched_getscheduler(process.pid) != os.SCHED_IDLE:
                assert process.status() != psutil.STATUS_ZOMBIE
        assert {core for process in spinning for core in process.cpu_affinity()} == os.sched_getaffinity(0)
    assert _spinning(this) == []


def test_the_processes_end_with_a_killed_parent() -> None:
    """Otherwise they would use all cores for ever."""
    code = f"""
from local import awake
awake._cores = lambda: {{{min(os.sched_getaffinity(0))}}}
with awake.awake():
    print(flush=True)
    input()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        spinning = _spinning(psutil.Process(parent.pid))
        parent.send_signal(signal.SIGKILL)
    assert len(spinning) == 1
    _, alive = psutil.wait_procs(spinning, timeout=60)
    assert alive == []


@pytest.mark.parametrize(("flags", "cores"), [("fpu lahf_lm", 2), ("fpu hypervisor lahf_lm", 1)])
def test_other_machines(flags: str, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a computer of its own, or where the machine shows hardware threads, no process runs."""
    module._CPU_INFO.write_text(f"flags : {flags}\n")
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 2 if logical else cores)
    with awake():
        assert _spinning(psutil.Process()) == []


@pytest.mark.parametrize(("limit", "limited"), [("max 100000\n", False), ("25000 100000\n", True)])
def test_a_container_with_a_limit(limit: str, limited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes would use up what the limit allows."""
    (tmp_path / "cpu.max").write_text(limit)
    monkeypatch.setattr(module, "_LIMITS", {tmp_path / "cpu.max": "max"})
    with awake():
        assert bool(_spinning(psutil.Process())) is not limited
