"""Processes that may end at any moment."""

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

import psutil


def names(processes: Iterable[psutil.Process]) -> Iterator[str]:
    """Yields the names of the processes that still run."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            yield process.name()


def alive(processes: Collection[psutil.Process], seconds: float = 60) -> list[psutil.Process]:
    """Returns those of `processes` that still run, after at most `seconds`.

    A zombie has ended. A zombie whose parent has ended stays until PID 1 reaps it, which some containers' PID 1 never
    does.
    """
    deadline = time.monotonic() + seconds
    while (left := [one for one in processes if _runs(one)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
