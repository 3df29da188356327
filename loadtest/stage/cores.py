"""Sets the core that a process may use. Only Linux can do this."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Event

from loadtest.stage.tree import tree

# The same as the period of the CPU quota.
SWAP_SECONDS = 0.1


def swap(pids: list[int], cores: tuple[int, ...], ended: Event) -> None:
    """Moves the n-th process to the n-th core, and ten times a second all processes to the next core, until `ended`.

    So if one core is slow, because of another virtual machine or the load generator, all processes are equally slow.
    Does not move descendants that start later.
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
