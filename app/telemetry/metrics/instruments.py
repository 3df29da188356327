"""Defines counters and histograms without locks. One thread at a time writes the values; any thread may copy them.

OpenTelemetry's instruments take 5 to 10 µs per measurement, and each webhook needs several measurements. The
instruments of this module take 0.1 µs. They need no lock, because the call `list(…)`, which copies the values, is
atomic under the interpreter lock.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

Labels = tuple[str | int, ...]
OTHER = "other"
# Maximum number of different values of a label, besides OTHER. The maximum is necessary because error codes are label
# values, and other services may return any error code.
MOST_VALUES = 40


class Description(NamedTuple):
    """Describes a metric. `name`: the name in OpenTelemetry, from which the name in Prometheus is derived.

    `unit`: a unit code of UCUM (https://ucum.org), such as `s` for seconds and `By` for bytes. `bounds`: see Histogram.
    """

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    unit: str
    text: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


class Buckets(NamedTuple):
    """The state of a histogram: the number of values in each bucket, and the sum of all values.

    The last bucket has no upper bound.
    """

    counts: list[int]
    total: float


Point = tuple[Labels, float | Buckets]


class Counter:
    """A counter with a value for each combination of labels. Only one thread at a time may change `values`.

    The values of the combinations in `known` begin at 0. If a counter first appeared with the value 1,
    Prometheus' `rate` would miss this first increment.
    """

    def __init__(self, name: str, unit: str, text: str, labels: tuple[str, ...] = (), known: Iterable[Labels] = ()):
        self.description = Description("counter", name, unit, text, labels)
        self.values: dict[Labels, float] = dict.fromkeys(known if labels else ((),), 0)

    def add(self, number: float) -> None:
        """Adds `number` to a counter without labels."""
        self.values[()] += number

    def count(self, value: str) -> None:
        """Adds 1 for the label's `value`. After MOST_VALUES different values, all new values count as OTHER."""
        labels: Labels = (value,)
        if labels not in self.values and len(self.values) >= MOST_VALUES:
            labels = (OTHER,)
        self.values[labels] = self.values.get(labels, 0) + 1

    def points(self) -> list[Point]:
        return list(self.values.items())


class Series:
    """The buckets of a histogram for one combination of labels."""

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def observe_all(self, values: float | Iterable[float]) -> None:
        """Adds one value, or several."""
        for value in [values] if isinstance(values, float | int) else values:
            self.observe(value)


class Histogram:
    """A histogram. `bounds`: the upper bounds of the buckets. A further bucket, the last, has no upper bound."""

    def __init__(self, name: str, unit: str, text: str, bounds: tuple[float, ...], labels: tuple[str, ...] = ()):
        self.description = Description("histogram", name, unit, text, labels, bounds)
        self._series: dict[Labels, Series] = {}

    def series(self, *labels: str | int) -> Series:
        """Returns the buckets for `labels`. Creates them if they do not exist."""
        if labels not in self._series:
            self._series[labels] = Series(self.description.bounds)
        return self._series[labels]

    def points(self) -> list[Point]:
        return [(labels, Buckets(list(one.counts), one.total)) for labels, one in list(self._series.items())]


class Observed(NamedTuple):
    """A gauge or counter whose value another object stores. The thread that exports the metrics calls `points`."""

    description: Description
    points: Callable[[], Iterable[Point]]


# A metric. `points` returns its current values by labels. A metric without points is not exported.
Instrument = Counter | Histogram | Observed


def gauge(name: str, unit: str, text: str, read: Callable[[], float]) -> Observed:
    """Returns a gauge without labels. `read` returns the gauge's current value."""
    return Observed(Description("gauge", name, unit, text), lambda: [((), read())])


def counter(name: str, unit: str, text: str, read: Callable[[], float]) -> Observed:
    """Returns a counter without labels. `read` returns the counter's current value, which another object stores."""
    return Observed(Description("counter", name, unit, text), lambda: [((), read())])
