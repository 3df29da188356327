"""Serves the metrics in Prometheus' text format, in a thread that answers even if the event loop is blocked."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from loguru import logger
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from app.errors import cannot_listen
from app.settings.text import http_url
from app.telemetry.metrics.instruments import Buckets, Description, Instrument, Point
from app.telemetry.metrics.scrapes import scrape_server

# Prometheus' names for OpenTelemetry's units. `{message}` is an exception: the specification drops units in braces.
# https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#metric-metadata-1
_SUFFIXES = {"s": "seconds", "By": "bytes", "{message}": "messages"}


def prometheus_name(about: Description) -> str:
    """Returns a metric's name in Prometheus, such as `event_loop_delay_seconds` for `event_loop.delay` with the unit s.

    Prometheus' client library adds `_total` to the names of counters.
    """
    name, suffix = _plain(about.name), _SUFFIXES.get(about.unit, "")
    return name if not suffix or name.endswith(f"_{suffix}") else f"{name}_{suffix}"


class Families(Collector):
    """Translates the metrics of this package into metrics of Prometheus' client library at each scrape."""

    def __init__(self, instruments: Sequence[Instrument]) -> None:
        self._instruments = instruments

    def collect(self) -> Iterator[Metric]:
        for instrument in self._instruments:
            if points := list(instrument.points()):
                yield _family(instrument.description, points)


@contextmanager
def served(instruments: Sequence[Instrument], host: str, port: int) -> Iterator[int]:
    """Serves the metrics on `host` and `port` until the `with` block ends. Yields the port, a free one if `port` is 0.

    Raises ConfigurationError if the server cannot listen there.
    """
    registry = CollectorRegistry()
    registry.register(Families(instruments))
    try:
        server = scrape_server(host, port, registry)
    except (OSError, OverflowError, UnicodeError) as error:
        raise cannot_listen(host, port, error, "APP_METRICS_PORT") from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    logger.info("Metrics on {}/metrics", http_url(host, server.server_port))
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _family(about: Description, points: list[Point]) -> Metric:
    name, labels = prometheus_name(about), [_plain(label) for label in about.labels]
    if about.kind == "histogram":
        histogram = HistogramMetricFamily(name, about.text, labels=labels)
        bounds = [*(str(bound) for bound in about.bounds), "+Inf"]
        for values, buckets in points:
            assert isinstance(buckets, Buckets)
            cumulative = list(zip(bounds, accumulate(buckets.counts), strict=True))
            histogram.add_metric([str(value) for value in values], cumulative, buckets.total)
        return histogram
    family_class = CounterMetricFamily if about.kind == "counter" else GaugeMetricFamily
    family = family_class(name, about.text, labels=labels)
    for values, number in points:
        assert not isinstance(number, Buckets)
        family.add_metric([str(value) for value in values], number)
    return family


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)
