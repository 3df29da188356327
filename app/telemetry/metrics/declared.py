"""Creates the metrics that the fields of a record declare, and adds the values of each record to the metrics."""

from collections.abc import Callable, Iterable
from typing import Any

from app.telemetry.fields import Metric, declared
from app.telemetry.metrics.instruments import Counter, Histogram, Instrument


class DeclaredMetrics:
    """The metrics that the class `record` declares, but only those whose `Metric.system` equals `system`.

    `prefix`: the text that takes the place of {} in the metrics' names.
    """

    def __init__(self, record: type, system: str = "", prefix: str = "") -> None:
        self.instruments: list[Instrument] = []
        self._by_label: list[Counter] = []
        self._observers: list[tuple[Callable[[Any], Any], Callable[[Any], None]]] = []
        for field in declared(record):
            if (metric := field.named.metric) is not None and metric.system == system:
                self._observers.append((field.value, self._make(metric, metric.name.format(prefix))))

    def expect(self, values: Iterable[str]) -> None:
        """Makes every counter that has a label begin at 0 for each of the label values `values`."""
        for counter in self._by_label:
            counter.values.update({(value,): 0 for value in values if (value,) not in counter.values})

    def observe(self, record: Any) -> None:
        """Adds the record's values to the metrics. Only one thread at a time may call this method."""
        for read, add in self._observers:
            if (value := read(record)) is not None:
                add(value)

    def _make(self, metric: Metric, name: str) -> Callable[[Any], None]:
        """Creates the instrument of `metric`. Returns its function that adds a value or a list of values."""
        if metric.bounds:
            histogram = Histogram(name, metric.unit, metric.text, metric.bounds)
            self.instruments.append(histogram)
            return histogram.series().observe_all
        counter = Counter(name, metric.unit, metric.text, (metric.label,) if metric.label else ())
        self.instruments.append(counter)
        if not metric.label:
            return counter.add
        self._by_label.append(counter)
        return counter.count
