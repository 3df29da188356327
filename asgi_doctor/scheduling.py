"""The kernel scheduler's statistics of a thread: how long it used a core, and how long it waited for one.

If a runnable thread has no core, the cause is a busy machine or a CPU limit, not the thread's code. schedstat counts
both kinds of delay as run-queue time: https://docs.kernel.org/scheduler/sched-stats.html
"""

import ctypes
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from asgi_doctor.cgroup import cpu_stat, throttling

# Maximum seconds between the reads of two threads' values, which may otherwise belong to different intervals.
TOGETHER_SECONDS = 0.005
# Seconds. A sampler that has no core for longer was stopped by a CPU limit. A busy machine delays it for less time.
_STOPPED = 0.03


@cache
def _pread() -> Callable[[int, ctypes.Array[ctypes.c_char], int, int], int]:
    """Returns C's function `pread`. Unlike `os.pread`, it keeps the interpreter lock.

    When `os.pread` releases the lock, a thread that computes takes the lock for `sys.getswitchinterval()`. Two reads
    with `os.pread` would then always take longer than TOGETHER_SECONDS.
    """
    arguments = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_long)
    return ctypes.PYFUNCTYPE(ctypes.c_ssize_t, *arguments)(("pread", ctypes.PyDLL(None)))


class SchedStat(NamedTuple):
    """CPU time and run-queue time of a thread so far, in seconds, and how often the thread got a core."""

    cpu: float
    run_queue: float
    turns: int


class ThreadTimes:
    """Reads the statistics of one thread of this process. `native_id`: the kernel's id of the thread.

    Without schedstat (not Linux, or gVisor), CPU time is 0, and run-queue time is the throttled time of the process's
    whole cgroup, or 0 if the kernel does not count it.
    """

    def __init__(self, native_id: int) -> None:
        self._thread = Path(f"/proc/self/task/{native_id}")
        file = self._thread / "schedstat"
        self._file = file.open("rb", buffering=0) if file.exists() else None
        self._stat = cpu_stat() if self._file is None else None
        self._buffer = ctypes.create_string_buffer(100)

    def read(self) -> SchedStat:
        """Returns the present values, which takes 3 µs. Raises ProcessLookupError if the thread has ended."""
        if self._file is None:
            counted = throttling(self._stat)
            return SchedStat(0, counted.throttled_seconds if counted is not None else 0, 0)
        length = _pread()(self._file.fileno(), self._buffer, len(self._buffer), 0)
        if length < 0:
            raise ProcessLookupError
        cpu, run_queue, turns = self._buffer.raw[:length].split()
        return SchedStat(int(cpu) / 1e9, int(run_queue) / 1e9, int(turns))

    def runnable(self) -> bool:
        """Returns whether the thread uses a core or waits for one now. schedstat counts a wait only when the wait ends.

        Returns False without schedstat. Raises ProcessLookupError if the thread has ended.
        """
        if self._file is None:
            return False
        try:
            return (self._thread / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "R"
        except FileNotFoundError:
            raise ProcessLookupError from None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Interval(NamedTuple):
    """Time between two samples, with the watched thread's CPU and run-queue time, and the sampler's run-queue time.

    `sampler_turns`: how often the sampler got a core.
    """

    seconds: float
    cpu: float
    run_queue: float
    sampler_run_queue: float
    sampler_turns: int = 0

    @property
    def without_core(self) -> float:
        """Seconds in which the watched thread was runnable but had no core.

        The result may exceed the interval, because the kernel counts a wait when the wait ends. If the sampler has the
        interpreter lock but no core, the watched thread may wait for the lock. So the result includes the sampler's
        time without a core in two cases: if the watched thread used or waited for a core, or if the sampler had no
        core for longer than _STOPPED, because a CPU limit has then stopped the process.
        """
        lock = self.sampler_run_queue if self.cpu or self.run_queue or self.sampler_run_queue > _STOPPED else 0
        return max(self.run_queue, min(self.run_queue + lock, self.seconds - self.cpu))


class SchedulingSample(NamedTuple):
    """The statistics of the watched thread and of the sampler at one time of `time.monotonic`."""

    at: float
    watched: SchedStat
    sampler: SchedStat

    def since(self, before: "SchedulingSample") -> Interval:
        return Interval(
            self.at - before.at,
            self.watched.cpu - before.watched.cpu,
            self.watched.run_queue - before.watched.run_queue,
            self.sampler.run_queue - before.sampler.run_queue,
            self.sampler.turns - before.sampler.turns,
        )


def take_sample(watched: ThreadTimes, sampler: ThreadTimes) -> SchedulingSample:
    """Reads both threads' statistics within TOGETHER_SECONDS. Repeats the reads if this thread lost its core meanwhile.

    Raises ProcessLookupError if the watched thread has ended.
    """
    while True:
        sample = SchedulingSample(time.monotonic(), watched.read(), sampler.read())
        if time.monotonic() - sample.at < TOGETHER_SECONDS:
            return sample
