"""Measures how busy other processes kept the machine, because they distort figures that are measured meanwhile."""

import time
from typing import NamedTuple, Self

import psutil

# Below these limits, other processes do not change what is measured here. An idle desktop stays below them.
FOREIGN_CORES = 0.3
STOLEN_CORES = 0.1


class Busy(NamedTuple):
    """Average number of cores that foreign processes used, and that the hypervisor took (steal time).

    Foreign processes are all except this process and its descendants.
    """

    foreign_cores: float
    stolen_cores: float

    def doubts(self) -> list[str]:
        """Returns the reasons why figures measured meanwhile are not comparable; none on an idle machine."""
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
    """Measures the machine inside the context; the result is `busy`, which is set when the context ends."""

    busy: Busy

    def __enter__(self) -> Self:
        self._before = _now()
        return self

    def __exit__(self, *error: object) -> None:
        seconds, total, own, stolen = (after - before for after, before in zip(_now(), self._before, strict=True))
        seconds = max(seconds, 0.001)
        self.busy = Busy(max(0.0, total - own) / seconds, stolen / seconds)


def _now() -> tuple[float, float, float, float]:
    """Returns the clock, and CPU seconds so far: all processes, this process with its descendants, the hypervisor."""
    times = psutil.cpu_times()
    total = times.user + times.system + sum(_seconds(times, name) for name in ("nice", "irq", "softirq"))
    return time.monotonic(), total, _own_cpu_seconds(), _seconds(times, "steal")


def _seconds(times: object, name: str) -> float:
    """Returns a kind of CPU time that not every system reports, else 0."""
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
        # `children_…`: children that have ended and that their parent has waited for.
        seconds += spent.user + spent.system + spent.children_user + spent.children_system
    return seconds
