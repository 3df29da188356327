"""Lists a process and its descendants."""

from collections.abc import Iterator
from contextlib import suppress

import psutil


def tree(pid: int) -> Iterator[psutil.Process]:
    """Yields the process and then its descendants. Leaves out processes that have ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        yield process
        yield from process.children(recursive=True)


def cpu_seconds(pid: int) -> float:
    """Returns the CPU seconds that a process and its descendants have used, including descendants that have ended."""
    seconds = 0.0
    for process in tree(pid):
        with suppress(psutil.NoSuchProcess):
            spent = process.cpu_times()
            seconds += spent.user + spent.system + spent.children_user + spent.children_system
    return seconds
