"""Metrics over OTLP/HTTP: pushed by a thread to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names.

Time-outs, headers, compression and certificates are the exporter's: it reads OTEL_EXPORTER_OTLP_… itself. Always
cumulative, whatever OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE says: the counters are never reset.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import time_ns

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.environment_variables import OTEL_METRIC_EXPORT_INTERVAL
from opentelemetry.sdk.metrics import export
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from app.errors import ConfigurationError
from app.telemetry.metrics.instruments import Buckets, Description, Instrument, Labels, Point

INTERVAL_MILLISECONDS = "60000"  # the specification's default
# For the last push, at the end of the process.
FLUSH_SECONDS = 3.0
_CUMULATIVE = export.AggregationTemporality.CUMULATIVE


@contextmanager
def pushed(instruments: Sequence[Instrument], resource: Resource, version: str) -> Iterator[None]:
    """Pushes them every OTEL_METRIC_EXPORT_INTERVAL and at the end. Raises ConfigurationError."""
    interval = os.environ.get(OTEL_METRIC_EXPORT_INTERVAL) or INTERVAL_MILLISECONDS
    if not interval.isdecimal() or not int(interval):
        raise ConfigurationError(f"{OTEL_METRIC_EXPORT_INTERVAL}={interval}: allowed are milliseconds, 1 or more")
    scope = InstrumentationScope("invoice_webhook", version)
    push = Push(Translation(instruments, resource, scope), int(interval) / 1000)
    push.start()
    try:
        yield
    finally:
        push.stop()


class Push(threading.Thread):
    """A daemon, so that a collector that does not answer never holds up the end of the process."""

    def __init__(self, translation: "Translation", interval: float) -> None:
        super().__init__(name="otlp-metrics", daemon=True)
        self._translation = translation
        self._interval = interval
        self._exporter = OTLPMetricExporter()
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(self._interval):
            self._export()
        self._export()

    def stop(self) -> None:
        """Pushes once more, for at most FLUSH_SECONDS."""
        self._ended.set()
        self.join(FLUSH_SECONDS)
        self._exporter.shutdown()

    def _export(self) -> None:
        self._exporter.export(self._translation.data())  # which logs its failures, and raises none


class Translation:
    """The instruments as the SDK's data, since this moment."""

    def __init__(self, instruments: Sequence[Instrument], resource: Resource, scope: InstrumentationScope) -> None:
        self._instruments = instruments
        self._resource = resource
        self._scope = scope
        self._since = time_ns()

    def data(self) -> export.MetricsData:
        metrics = [
            export.Metric(instrument.what.name, instrument.what.text, instrument.what.unit, data)
            for instrument in self._instruments
            if (data := self._data(instrument.what, list(instrument.points()))) is not None
        ]
        scope = export.ScopeMetrics(self._scope, metrics, "")
        return export.MetricsData([export.ResourceMetrics(self._resource, [scope], "")])

    def _data(self, what: Description, points: list[Point]) -> export.Sum | export.Gauge | export.Histogram | None:
        if not points:
            return None
        if what.kind == "histogram":
            return export.Histogram([self._histogram(what, *point) for point in points], _CUMULATIVE)
        numbers = [self._number(what, *point) for point in points]
        return export.Gauge(numbers) if what.kind == "gauge" else export.Sum(numbers, _CUMULATIVE, is_monotonic=True)

    def _number(self, what: Description, labels: Labels, value: float | Buckets) -> export.NumberDataPoint:
        assert not isinstance(value, Buckets)
        return export.NumberDataPoint(_attributes(what, labels), self._since, time_ns(), value)

    def _histogram(self, what: Description, labels: Labels, value: float | Buckets) -> export.HistogramDataPoint:
        assert isinstance(value, Buckets)
        return export.HistogramDataPoint(
            _attributes(what, labels),
            self._since,
            time_ns(),
            count=sum(value.counts),
            sum=value.total,
            bucket_counts=value.counts,
            explicit_bounds=what.bounds,
            min=None,  # type: ignore[arg-type]  # optional in OTLP, and without meaning in a cumulative histogram
            max=None,  # type: ignore[arg-type]
        )


def _attributes(what: Description, labels: Labels) -> dict[str, str | int]:
    """An empty label is an absent attribute."""
    return {name: value for name, value in zip(what.labels, labels, strict=True) if value != ""}
