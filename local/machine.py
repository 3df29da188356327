"""Measures how much CPU time other processes use, because other processes distort a measurement."""

import time
from typing import NamedTuple, Self

import psutil

# Below these limits, other processes do not change our measurements. An idle desktop stays below these limits.
FOREIGN_CORES = 0.3
STOLEN_CORES = 0.1


class Busy(NamedTuple):
    """The average number of cores that foreign processes used, and that the hypervisor took (steal time).

    Foreign processes are all processes except this process and its descendants.
    """

    foreign_cores: float
    stolen_cores: float

    def doubts(self) -> list[str]:
        """Returns the reasons why the measured figures are not comparable; an empty list for an idle machine."""
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
    """Measures the machine inside the context, and sets `busy` when the context ends."""

    busy: Busy

    def __enter__(self) -> Self:
        self._before = _now()
        return self

    def __exit__(self, *error: object) -> None:
        seconds, total, own, stolen = (after - before for after, before in zip(_now(), self._before, strict=True))
        seconds = max(seconds, 0.001)
        self.busy = Busy(max(0.0, total - own) / seconds, stolen / seconds)


def _now() -> tuple[float, float, float, float]:
    """Returns the time, and the CPU seconds used so far by three groups.

    The groups are all processes, this process with its descendants, and the hypervisor.
    """
    times = psutil.cpu_times()
    total = times.user + times.system + sum(_seconds(times, name) for name in ("nice", "irq", "softirq"))
    return time.monotonic(), total, _own_cpu_seconds(), _seconds(times, "steal")


def _seconds(times: object, name: str) -> float:
    """Returns the CPU time called `name`, or 0 if this operating system does not report it."""
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
        # `children_…` is the CPU time of children that have ended, and that their parent has waited for.
        seconds += spent.user + spent.system + spent.children_user + spent.children_system
    return seconds
