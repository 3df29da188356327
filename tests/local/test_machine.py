"""Tests that the CPU time of other processes is separated from our own."""

import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from local import machine
from local.machine import SHORTEST, Busy, Watch, loop

BURN = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


@pytest.fixture
def stranger() -> Iterator[psutil.Process]:
    """A process that uses a core and is no descendant of this one: its parent has ended."""
    command = ["sh", "-c", '"$0" -c "$1" >/dev/null 2>&1 & echo $!', sys.executable, BURN]
    pid = int(subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout)
    yield psutil.Process(pid)
    os.kill(pid, signal.SIGKILL)


def test_a_core_that_others_use(stranger: psutil.Process) -> None:
    """The CPU time of an unrelated process counts as foreign."""
    with Watch() as watch:
        before, began = stranger.cpu_times().user, time.monotonic()
        while stranger.cpu_times().user < before + 0.5:
            time.sleep(0.05)
        seconds = time.monotonic() - began
    assert watch.busy.foreign_cores * max(seconds, SHORTEST) > 0.4


def test_a_short_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ticks of rounding within 50 ms are not other work."""
    readings = iter([(0.0, 0.0, 0.0, 0.0), (0.05, 0.06, 0.04, 0.0)])
    monkeypatch.setattr(machine, "_now", lambda: next(readings))
    with Watch() as watch:
        pass
    assert watch.busy.foreign_cores == pytest.approx(0.02)


def test_what_our_processes_use_is_ours() -> None:
    """Children do not count as foreign, neither running ones nor children of a child that has ended."""
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    stays = [sys.executable, "-c", f"input()\n{burn}\nprint(flush=True)\ninput()"]
    with subprocess.Popen(stays, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        with Watch() as watch:
            used, began = _used(), time.monotonic()
            print(file=running.stdin, flush=True)  # not earlier: the loop before the context takes half a second
            running.stdout.readline()
            subprocess.run([sys.executable, "-c", parent], check=True)
            seconds = time.monotonic() - began
            used = _used() - used
        running.communicate("\n")
    assert watch.busy.foreign_cores * seconds < used - 0.8


def _used() -> float:
    """Returns the seconds of CPU of all processes so far."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - times.iowait - times.steal - times.guest - times.guest_nice


@pytest.mark.parametrize(
    ("busy", "doubts"), [(Busy(0.1, 0.0, 1.1), 0), (Busy(0.5, 0.0, 1.1), 1), (Busy(0.5, 0.2, 1.7), 3)]
)
def test_doubts(busy: Busy, doubts: int) -> None:
    """Each reason gives one line."""
    assert len(busy.doubts()) == doubts
    assert all(doubt.startswith(("other processes used", "the hypervisor", "the processor")) for doubt in busy.doubts())


def test_a_slower_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbour on the same core shows as a loop that takes longer than at its fastest."""
    monkeypatch.setattr(loop, "fastest", 1e-6)
    with Watch() as watch:
        pass
    assert any(doubt.startswith("the processor") for doubt in watch.busy.doubts())


def test_a_processor_that_is_seldom_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbour that works for a twentieth of the time gives no reason to doubt a measurement."""
    clock = itertools.accumulate(itertools.cycle([0.0, 1.0] * 19 + [0.0, 2.0]))
    monkeypatch.setattr(loop, "fastest", math.inf)
    monkeypatch.setattr(time, "thread_time", clock.__next__)
    with Watch() as watch:
        pass
    assert watch.busy.slowdown == pytest.approx(1.05, abs=0.01)
