"""Which core a process may use, on systems that can choose it: Linux."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Event

from loadtest.stage.tree import tree

# As long as a period of the CPU quota.
SWAP_SECONDS = 0.1


def swap(pids: list[int], cores: tuple[int, ...], ended: Event) -> None:
    """Moves the n-th process to the n-th core, then all of them one core on, ten times a second, until `ended`.

    Descendants that start later are not moved.

    What slows one core (a neighbour on the host, the load generator) then slows all of them alike.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    turn = 0
    trees = [[process.pid for process in tree(pid)] for pid in pids]
    while not ended.wait(SWAP_SECONDS):
        for number, members in enumerate(trees):
            for pid in members:
                _move(pid, cores[(number + turn) % len(cores)])
        turn += 1


def _move(pid: int, core: int) -> None:
    """Moves all threads of a process to `core`. The process may have ended."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                os.sched_setaffinity(int(thread.name), {core})
