"""Measures how much other processes and other virtual machines disturb a measurement."""

import math
import statistics
import time
from functools import cached_property
from typing import NamedTuple, Self

import psutil

# Limits in cores. Below these limits, other work hardly changes a measurement. An idle desktop stays below them.
FOREIGN_CORES = 0.3
STOLEN_CORES = 0.1
# The limit of `Busy.slowdown`. A virtual core is often one of a core's two hardware threads. If another virtual machine
# uses the second thread, the same work takes some 1.7 times as long, and Linux does not report that as steal time.
SLOWDOWN = 1.4
# A shorter measurement counts as this many seconds. Linux rounds each process's CPU time to ticks of 10 ms, and over 50
# ms, the rounding alone would look like half a core of other work.
SHORTEST = 1.0
# `Loop.time` repeats a loop for _SECONDS, and averages the times. Another virtual machine that works for 50 ms of each
# second hardly changes a measurement, but would make a loop of only 50 ms much slower if both ran at the same time.
_SECONDS, _LENGTH = 0.5, 30_000


class Busy(NamedTuple):
    """How much other work disturbed a measurement. Numbers of cores are averages.

    `foreign_cores` counts all processes except this process and its descendants. `stolen_cores` counts the time that
    the hypervisor gave to other virtual machines (steal time). A short loop was repeated before and after the
    measurement. `slowdown` is the longer of the two average times, divided by the loop's shortest time in this process.
    """

    foreign_cores: float
    stolen_cores: float
    slowdown: float

    def doubts(self) -> list[str]:
        """Returns the reasons to doubt a measurement, or an empty list if other work hardly disturbed it."""
        cores = psutil.cpu_count() or 1
        reasons = (
            (f"other processes used {self.foreign_cores:.1f} of {cores} cores", self.foreign_cores > FOREIGN_CORES),
            (f"the hypervisor took {self.stolen_cores:.1f} of {cores} cores", self.stolen_cores > STOLEN_CORES),
            (f"the processor was slow: a loop took {self.slowdown:.1f} times its best time", self.slowdown > SLOWDOWN),
        )
        return [reason for reason, holds in reasons if holds]


class Loop:
    """A short loop that shows how fast the processor is now. `fastest`: the loop's shortest CPU time, in seconds."""

    fastest = math.inf

    def time(self) -> float:
        """Repeats the loop for half a second, and returns how many CPU seconds one repetition takes on average."""
        taken: list[float] = []
        until = time.monotonic() + _SECONDS
        while not taken or time.monotonic() < until:
            began = time.thread_time()
            sum(range(_LENGTH))
            taken.append(time.thread_time() - began)
        self.fastest = min(self.fastest, *taken)
        return statistics.fmean(taken)


loop = Loop()


class Watch:
    """Measures how much other work disturbs this process, until the `with` block ends.

    Entering the block takes half a second, and so does the first use of `busy`, because both run `loop`.
    """

    def __enter__(self) -> Self:
        self._loop_seconds = loop.time()
        self._before = _now()
        return self

    def __exit__(self, *error: object) -> None:
        self._after = _now()

    @cached_property
    def busy(self) -> Busy:
        """The disturbance. Read it after the measured processes have ended, because they also slow down the loop."""
        seconds, total, own, stolen = (after - before for after, before in zip(self._after, self._before, strict=True))
        seconds = max(seconds, SHORTEST)
        slowest = max(self._loop_seconds, loop.time())
        # If the clock's ticks are longer than the loop, `fastest` is 0, and the slowdown is unknown.
        slowdown = slowest / loop.fastest if loop.fastest > 0 else 1.0
        # Rounded here, so that a reader of the stored values comes to the same `doubts`.
        return Busy(round(max(0.0, total - own) / seconds, 3), round(stolen / seconds, 3), round(slowdown, 2))


def _now() -> tuple[float, float, float, float]:
    """Returns the time in seconds, and three sums of CPU seconds.

    The sums are the CPU time of all processes, the CPU time of this process and its descendants, and the steal time,
    which the hypervisor gave to other virtual machines.
    """
    times = psutil.cpu_times()
    total = times.user + times.system + sum(_seconds(times, name) for name in ("nice", "irq", "softirq"))
    return time.monotonic(), total, _own_cpu_seconds(), _seconds(times, "steal")


def _seconds(times: object, name: str) -> float:
    """Returns the CPU seconds in the field `name` of `times`, or 0 if this operating system does not report it."""
    value: float = getattr(times, name, 0.0)
    return value


def _own_cpu_seconds() -> float:
    this = psutil.Process()
    seconds = 0.0
    for process in [this, *this.children(recursive=True)]:
        try:
            spent = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # `children_user` and `children_system` are the CPU time of ended children, if `process` has waited for them.
        seconds += spent.user + spent.system + spent.children_user + spent.children_system
    return seconds
