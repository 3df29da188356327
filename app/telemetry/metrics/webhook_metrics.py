"""Defines the metrics of webhooks: outcomes, latencies, redeliveries, and unexpected events."""

from collections.abc import Iterable
from time import time

from app.events import WebhookEvent
from app.telemetry.metrics.declared import DeclaredMetrics
from app.telemetry.metrics.instruments import Counter, Histogram, Instrument
from app.telemetry.record import LAG_SECONDS, WebhookRecord

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0)
# The version of Chargebee's API (https://apidocs.chargebee.com/docs/api) that app.events supports.
API_VERSION = "v2"
_EVENT_TYPE, _API_VERSION, _TRUNCATED = ("event_type",), ("api_version",), ("truncated_line_items",)


class WebhookMetrics:
    """Counts webhooks in the event loop's thread. Labels contain no payload values, to limit the number of series.

    `wanted`: the event types in APP_EVENT_TYPES.
    """

    def __init__(self, method: str, route: str, wanted: frozenset[str]) -> None:
        self._labels = (method, route)
        self._wanted = wanted
        self._declared = DeclaredMetrics(WebhookRecord)
        self._durations = Histogram(
            "http.server.request.duration",
            "s",
            "Time from the arrival of a webhook's headers to the response.",
            SECONDS,
            ("http.request.method", "http.route", "http.response.status_code"),
        )
        lags = Histogram(
            "invoice_webhook.delivery_lag",
            "s",
            "Time from the event's occurred_at to the response to the webhook.",
            LAG_SECONDS,
        )
        self._lag = lags.series()
        self._unexpected = Counter(
            "invoice_webhook.unexpected_events",
            "{event}",
            "Events of a type not in APP_EVENT_TYPES, of another API version, or with truncated line items.",
            ("kind",),
            (_EVENT_TYPE, _API_VERSION, _TRUNCATED),
        )
        self.instruments: list[Instrument] = [*(self._durations, *self._declared.instruments, lags, self._unexpected)]

    def expect(self, outcomes: Iterable[tuple[str, int | None]]) -> None:
        """Makes the counters and histograms of `outcomes` begin at 0."""
        for outcome, status in outcomes:
            self._declared.expect([outcome])
            self._durations.series(*self._labels, status or "")

    def observe(self, record: WebhookRecord) -> None:
        """Counts a webhook that has ended, with or without an answer."""
        assert record.answered is not None
        durations = self._durations.series(*self._labels, record.http_status or "")  # "": the webhook has no answer
        durations.observe(record.answered - record.began)
        self._declared.observe(record)
        if record.event is not None:
            self._observe_event(record.event)

    def _observe_event(self, event: WebhookEvent) -> None:
        now = time()
        # The comparison prevents an OverflowError: `occurred_at` is from the payload and may be too large for a float.
        self._lag.observe(now - event.occurred_at if event.occurred_at < now else 0.0)
        if event.event_type not in self._wanted:
            self._unexpected.values[_EVENT_TYPE] += 1
        if event.api_version != API_VERSION:
            self._unexpected.values[_API_VERSION] += 1
        if event.is_truncated:
            self._unexpected.values[_TRUNCATED] += 1
