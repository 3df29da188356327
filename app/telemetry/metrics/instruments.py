"""Counters and histograms without locks: one thread writes, and a reader copies the present values.

OpenTelemetry's instruments take 5 to 10 µs per measurement, a third of the CPU of a webhook in v10. These take 0.1 µs.
A copy (`list` of a list or of a dict's items) is atomic under the interpreter lock.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

Labels = tuple[str | int, ...]
# 20 numbers per decade (the series R20 of ISO 3), each 12 % above the previous one, so the middle of a bucket is
# at most 6 % from every value in the bucket.
_R20 = (1, 1.12, 1.25, 1.4, 1.6, 1.8, 2, 2.24, 2.5, 2.8, 3.15, 3.55, 4, 4.5, 5, 5.6, 6.3, 7.1, 8, 9)
_DECADES = range(-3, 2)


class Description(NamedTuple):
    """Describes a metric with OpenTelemetry's names, from which Prometheus' names are derived. `unit`: UCUM."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    unit: str
    text: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


class Buckets(NamedTuple):
    """A histogram at one moment: values per bucket, of which the last has no upper bound, and their sum."""

    counts: list[int]
    total: float


Point = tuple[Labels, float | Buckets]


class Instrument(Protocol):
    """A metric that can be collected. It is absent from the result while it has no points."""

    @property
    def description(self) -> Description: ...

    def points(self) -> Iterable[Point]: ...


class Counter:
    """Counts by labels: one writer adds to `values`. `known` series begin at 0, so a rate shows the first increment."""

    def __init__(self, name: str, unit: str, text: str, labels: tuple[str, ...] = (), known: Iterable[Labels] = ()):
        self.description = Description("counter", name, unit, text, labels)
        self.values: dict[Labels, float] = dict.fromkeys(known if labels else ((),), 0)

    def points(self) -> list[Point]:
        return list(self.values.items())


class Series:
    """One series of a histogram."""

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value


class Histogram:
    """A histogram. `bounds`: the upper bound of each bucket but the last."""

    def __init__(self, name: str, unit: str, text: str, bounds: tuple[float, ...], labels: tuple[str, ...] = ()):
        self.description = Description("histogram", name, unit, text, labels, bounds)
        self._series: dict[Labels, Series] = {}

    def series(self, *labels: str | int) -> Series:
        """Returns the series with these labels; creates it if it is new."""
        return self._series.setdefault(labels, Series(self.description.bounds))

    def points(self) -> list[Point]:
        return [(labels, Buckets(list(one.counts), one.total)) for labels, one in list(self._series.items())]


def bounds(few: tuple[float, ...], *, fine: bool) -> tuple[float, ...]:
    """Returns the upper bounds of a histogram of seconds: `few`, and with `fine` (APP_METRICS_FINE) many in between.

    In a deployment, each bound costs Prometheus a time series per status and process, and alerts use a few thresholds
    only. The live page shows medians, and must not show a median of 100 ms as the middle between 100 and 250.
    """
    if not fine:
        return few
    all_of_them = {float(f"{number}e{decade}") for decade in _DECADES for number in _R20}
    between = {bound for bound in all_of_them if few[0] < bound < few[-1]}
    return tuple(sorted({*few, *between}))


class Observed:
    """A gauge, or a counter that another object counts. `read` is called at collection, in another thread."""

    def __init__(self, description: Description, read: Callable[[], Iterable[Point]]) -> None:
        self.description = description
        self.points = read


def gauge(name: str, unit: str, text: str, read: Callable[[], float]) -> Observed:
    """Returns a gauge without labels."""
    return Observed(Description("gauge", name, unit, text), lambda: [((), read())])


def counter(name: str, unit: str, text: str, read: Callable[[], float]) -> Observed:
    """Returns a counter without labels that another object counts."""
    return Observed(Description("counter", name, unit, text), lambda: [((), read())])
