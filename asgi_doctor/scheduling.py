"""What the kernel's scheduler counts of one thread: how long it computed, how long it waited for a core.

A thread that could run and does not get a core is delayed by the machine, or by its CPU limit, and not by its code: in
/proc/…/schedstat the time of both is waiting. https://docs.kernel.org/scheduler/sched-stats.html
"""

import os
import time
from pathlib import Path
from typing import NamedTuple

from asgi_doctor.cgroup import cpu_stat, throttling

# What is read further apart would be counted in the wrong interval.
TOGETHER_SECONDS = 0.005


class Spent(NamedTuple):
    """Seconds so far."""

    computing: float
    waiting: float


class ThreadTimes:
    """Of the thread of this process with this native id.

    Without schedstat (not Linux, or gVisor), computing is 0, and waiting the throttling of the whole process, if known.
    """

    def __init__(self, native_id: int) -> None:
        self._thread = Path(f"/proc/self/task/{native_id}")
        file = self._thread / "schedstat"
        self._file = file.open("rb", buffering=0) if file.exists() else None
        self._stat = cpu_stat() if self._file is None else None

    def read(self) -> Spent:
        """Takes 2 µs. Raises ProcessLookupError where the thread has ended."""
        if self._file is None:
            counted = throttling(self._stat)
            return Spent(0, counted.throttled_seconds if counted is not None else 0)
        computing, waiting, _ = os.pread(self._file.fileno(), 100, 0).split()
        return Spent(int(computing) / 1e9, int(waiting) / 1e9)

    def runnable(self) -> bool:
        """Whether it computes or waits for a core now; the current wait is counted once it has got one."""
        if self._file is None:
            return False
        return (self._thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Passed(NamedTuple):
    """Seconds between two looks; of them, the thread computed and waited, and the looking thread waited, so many."""

    seconds: float
    computing: float
    waiting: float
    own_waiting: float

    @property
    def waited(self) -> float:
        """Seconds for which nothing can be said of the thread's code.

        Without a core, the looking thread does not see what the other one does: that may wait for the GIL it holds.
        """
        return min(self.waiting + self.own_waiting, max(self.seconds - self.computing, 0))


class Look(NamedTuple):
    """At one time, by `time.monotonic`, what a thread has `spent`, and the thread that looks (`own`)."""

    at: float
    spent: Spent
    own: Spent

    def since(self, before: "Look") -> Passed:
        return Passed(
            self.at - before.at,
            self.spent.computing - before.spent.computing,
            self.spent.waiting - before.spent.waiting,
            self.own.waiting - before.own.waiting,
        )


def look(times: ThreadTimes, own: ThreadTimes) -> Look:
    """All next to each other; once more where this thread lost its core in between. Raises ProcessLookupError."""
    while True:
        found = Look(time.monotonic(), times.read(), own.read())
        if time.monotonic() - found.at < TOGETHER_SECONDS:
            return found
