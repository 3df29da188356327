"""How busy the machine was with other processes: a figure that was measured meanwhile is of them, too."""

import time
from typing import NamedTuple, Self

import psutil

# Below these, other processes do not change what is measured here; a desktop at rest stays below.
FOREIGN_CORES = 0.3
STOLEN_CORES = 0.1


class Busy(NamedTuple):
    """Cores on average: used by processes that are not this one's descendants, and taken by the hypervisor."""

    foreign_cores: float
    stolen_cores: float

    def doubts(self) -> list[str]:
        """Why figures of that time are not comparable, a line each; none on an idle machine."""
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
    """`with` watches the machine; `busy` is the result, once the context has ended."""

    busy: Busy

    def __enter__(self) -> Self:
        self._before = _now()
        return self

    def __exit__(self, *error: object) -> None:
        seconds, everybody, ours, stolen = (after - before for after, before in zip(_now(), self._before, strict=True))
        seconds = max(seconds, 0.001)
        self.busy = Busy(max(0.0, everybody - ours) / seconds, stolen / seconds)


def _now() -> tuple[float, float, float, float]:
    """The clock, and seconds of CPU so far: of all processes, of this one with its descendants, of the hypervisor."""
    times = psutil.cpu_times()
    everybody = times.user + times.system + getattr(times, "nice", 0) + _of(times, "irq") + _of(times, "softirq")
    return time.monotonic(), everybody, _ours(), _of(times, "steal")


def _of(times: object, name: str) -> float:
    """A kind of time that not every system has."""
    value: float = getattr(times, name, 0.0)
    return value


def _ours() -> float:
    this = psutil.Process()
    seconds = 0.0
    for process in [this, *this.children(recursive=True)]:
        try:
            spent = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # The last two: of children that have ended and were waited for.
        seconds += spent.user + spent.system + spent.children_user + spent.children_system
    return seconds
