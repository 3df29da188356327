"""Measures how much CPU time other processes use during a measurement, because such use distorts the result."""

import time
from typing import NamedTuple, Self

import psutil

# Limits in cores. Up to these limits, other processes hardly change a measurement. An idle desktop stays below them.
FOREIGN_CORES = 0.3
STOLEN_CORES = 0.1


class Busy(NamedTuple):
    """How many cores other work used on average during a measurement.

    `foreign_cores` counts all processes except this process and its descendants. `stolen_cores` counts the time that
    the hypervisor gave to other virtual machines (steal time).
    """

    foreign_cores: float
    stolen_cores: float

    def doubts(self) -> list[str]:
        """Returns the reasons to doubt a measurement, or an empty list if other work used little CPU time."""
        cores = psutil.cpu_count() or 1
        return [
            f"{what} {used:.1f} of {cores} cores"
            for what, used, bound in (
                ("other processes used", self.foreign_cores, FOREIGN_CORES),
                ("the hypervisor took", self.stolen_cores, STOLEN_CORES),
            )
            if used > bound
        ]


class Watch:
    """Measures, inside the context, how much CPU time other work uses. Sets `busy` when the context ends."""

    busy: Busy

    def __enter__(self) -> Self:
        self._before = _now()
        return self

    def __exit__(self, *error: object) -> None:
        seconds, total, own, stolen = (after - before for after, before in zip(_now(), self._before, strict=True))
        seconds = max(seconds, 0.001)
        self.busy = Busy(max(0.0, total - own) / seconds, stolen / seconds)


def _now() -> tuple[float, float, float, float]:
    """Returns the time in seconds, and three amounts of CPU seconds used so far.

    The amounts are those of all processes, of this process with its descendants, and of the hypervisor (steal time).
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
