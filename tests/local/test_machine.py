"""What other processes use, and what ours use, is told apart."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from app.local.machine import Busy, Watch

BURN = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


@pytest.fixture
def stranger() -> Iterator[None]:
    """A process that uses a core and is no descendant of this one: its parent has ended."""
    command = ["sh", "-c", '"$0" -c "$1" >/dev/null 2>&1 & echo $!', sys.executable, BURN]
    pid = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    yield
    os.kill(pid, signal.SIGKILL)


def test_a_core_that_others_use(stranger: None) -> None:
    """It counts as foreign. (On a busy machine, less of it is to be had.)"""
    with Watch() as watch:
        time.sleep(1)
    assert watch.busy.foreign_cores > 0.3
    assert any(doubt.startswith("other processes used") for doubt in watch.busy.doubts())


def test_what_our_processes_use_is_ours() -> None:
    """Running and ended children, and their children, do not count."""
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN.replace('60', '1')!r}])"
    with Watch() as before:
        time.sleep(1)
    with Watch() as watch:
        subprocess.run([sys.executable, "-c", code], check=True)
    assert watch.busy.foreign_cores < before.busy.foreign_cores + 0.7


@pytest.mark.parametrize(("busy", "doubts"), [(Busy(0.1, 0.0), 0), (Busy(0.5, 0.0), 1), (Busy(0.5, 0.2), 2)])
def test_doubts(busy: Busy, doubts: int) -> None:
    """A line for each reason."""
    assert len(busy.doubts()) == doubts
