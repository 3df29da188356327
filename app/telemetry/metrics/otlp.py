"""Runs a thread that pushes the metrics to a collector over OTLP/HTTP.

OTEL_EXPORTER_OTLP_METRICS_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT names the collector. OpenTelemetry's exporter reads
the OTEL_EXPORTER_OTLP_… variables for time-outs, headers, compression and certificates.
Metrics are always cumulative, because this process never resets its counters. Therefore,
OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE has no effect.
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

# The default of OTEL_METRIC_EXPORT_INTERVAL in OpenTelemetry's specification.
INTERVAL_MILLISECONDS = "60000"
# When the process ends, it waits at most this many seconds for the last push.
FLUSH_SECONDS = 3.0
_CUMULATIVE = export.AggregationTemporality.CUMULATIVE


@contextmanager
def pushed(instruments: Sequence[Instrument], resource: Resource, version: str) -> Iterator[None]:
    """Pushes the metrics every OTEL_METRIC_EXPORT_INTERVAL milliseconds, and once more when the `with` block ends.

    Raises ConfigurationError if OTEL_METRIC_EXPORT_INTERVAL is wrong.
    """
    interval = os.environ.get(OTEL_METRIC_EXPORT_INTERVAL) or INTERVAL_MILLISECONDS
    if not interval.isdecimal() or not int(interval):
        raise ConfigurationError(f"{OTEL_METRIC_EXPORT_INTERVAL}={interval}: allowed are 1 or more milliseconds")
    scope, since = InstrumentationScope("invoice_webhook", version), time_ns()
    exporter = OTLPMetricExporter()
    ended = threading.Event()

    def push() -> None:
        last = False
        while not last:
            last = ended.wait(int(interval) / 1000)
            metrics = export.ScopeMetrics(scope, _translated(instruments, since), "")
            # `export` logs failures and does not raise them.
            exporter.export(export.MetricsData([export.ResourceMetrics(resource, [metrics], "")]))

    # The thread is a daemon, so that the process can end even if the collector hangs.
    thread = threading.Thread(target=push, name="otlp-metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(FLUSH_SECONDS)
        exporter.shutdown()


def _translated(instruments: Sequence[Instrument], since: int) -> list[export.Metric]:
    """Translates the metrics of this package into the data types of OpenTelemetry's SDK.

    `since`: the start time of each metric, in nanoseconds since the epoch.
    """
    collected = [(instrument.description, list(instrument.points())) for instrument in instruments]
    return [
        export.Metric(about.name, about.text, about.unit, _data(about, points, since))
        for about, points in collected
        if points
    ]


def _data(about: Description, points: list[Point], since: int) -> export.Sum | export.Gauge | export.Histogram:
    if about.kind == "histogram":
        return export.Histogram([_histogram(about, since, *point) for point in points], _CUMULATIVE)
    numbers = [_number(about, since, *point) for point in points]
    return export.Gauge(numbers) if about.kind == "gauge" else export.Sum(numbers, _CUMULATIVE, is_monotonic=True)


def _number(about: Description, since: int, labels: Labels, value: float | Buckets) -> export.NumberDataPoint:
    assert not isinstance(value, Buckets)
    return export.NumberDataPoint(_attributes(about, labels), since, time_ns(), value)


def _histogram(about: Description, since: int, labels: Labels, value: float | Buckets) -> export.HistogramDataPoint:
    assert isinstance(value, Buckets)
    return export.HistogramDataPoint(
        _attributes(about, labels),
        since,
        time_ns(),
        count=sum(value.counts),
        sum=value.total,
        bucket_counts=value.counts,
        explicit_bounds=about.bounds,
        min=None,  # type: ignore[arg-type]  # optional in OTLP, and unknown here
        max=None,  # type: ignore[arg-type]
    )


def _attributes(about: Description, labels: Labels) -> dict[str, str | int]:
    """Returns the labels as OpenTelemetry's attributes. Omits empty labels."""
    return {name: value for name, value in zip(about.labels, labels, strict=True) if value != ""}
