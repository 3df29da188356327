"""Lists processes that may end at any moment."""

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
    """Waits until all `processes` have ended, for at most `seconds`. Returns the processes that still run.

    A zombie counts as ended, because the PID 1 of some containers never reaps zombies whose parent has ended.
    """
    deadline = time.monotonic() + seconds
    while (left := [one for one in processes if _runs(one)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
