"""Sets the core that a process may use. Only Linux can do this."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Event

from loadtest.stage.tree import tree

# The same as the period of the budget's CPU quota.
SWAP_SECONDS = 0.1


def swap(pids: list[int], cores: tuple[int, ...], ended: Event) -> None:
    """Moves each process to the next of `cores` ten times a second, until `ended` is set.

    The n-th process begins on the n-th core. If another virtual machine or the load generator slows one core,
    all processes become equally slow. Descendants move with their process, except descendants that start later.
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
    """Moves all threads of a process to `core`. Does nothing if the process has ended."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                os.sched_setaffinity(int(thread.name), {core})
