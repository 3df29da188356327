"""Defines the metrics of webhooks: outcomes, latencies, redeliveries, and unexpected events."""

from collections.abc import Iterable
from http import HTTPStatus
from time import time

from app.events import Event, UnwantedEvent
from app.telemetry.metrics.instruments import Counter, Histogram, Instrument, Labels, Series
from app.telemetry.record import UNANSWERED, WebhookRecord

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0)
# The highest bound is four days, because Chargebee redelivers a webhook for 3 days 7 hours.
LAG_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0, 21_600.0, 86_400.0, 345_600.0)
# The version of https://apidocs.chargebee.com/docs/api that app.events supports.
API_VERSION = "v2"
_EVENT_TYPE, _API_VERSION, _TRUNCATED = ("event_type",), ("api_version",), ("truncated_line_items",)


class WebhookMetrics:
    """Counts webhooks in the event loop's thread. Labels contain no payload values, to limit the number of series.

    `wanted`: APP_EVENT_TYPES.
    """

    def __init__(self, method: str, route: str, wanted: frozenset[str]) -> None:
        self._labels = (method, route)
        self._wanted = wanted
        self._known: dict[str, tuple[Labels, Series]] = {}
        self._durations = Histogram(
            "http.server.request.duration",
            "s",
            "Time from the arrival of a webhook's headers to the response.",
            SECONDS,
            ("http.request.method", "http.route", "http.response.status_code"),
        )
        self._outcomes = Counter("invoice_webhook.webhooks", "{webhook}", "Webhooks by outcome.", ("outcome",))
        self._redeliveries = Counter("invoice_webhook.redeliveries", "{webhook}", "Webhooks that Chargebee sent again.")
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
        self.instruments: list[Instrument] = [
            *(self._durations, self._outcomes, self._redeliveries, lags, self._unexpected)
        ]

    def expect(self, outcomes: Iterable[tuple[str, int | None]]) -> None:
        """Makes the counters and histograms of `outcomes` begin at 0."""
        for outcome, status in outcomes:
            self._add_series(outcome, status)

    def observe(self, record: WebhookRecord) -> None:
        """Counts a webhook that has ended, with or without an answer."""
        assert record.answered is not None
        labels, durations = self._known.get(record.outcome) or self._add_series(record.outcome, record.status)
        self._outcomes.values[labels] += 1
        durations.observe(record.answered - record.began)
        if record.event is not None:
            self._observe_event(record.event)

    def _add_series(self, outcome: str, status: int | None) -> tuple[Labels, Series]:
        """Adds an outcome, and returns its labels and its histogram. `status`: None for a 200 and for UNANSWERED."""
        code = status or ("" if outcome == UNANSWERED else HTTPStatus.OK.value)
        self._outcomes.values.setdefault((outcome,), 0)
        known = self._known[outcome] = ((outcome,), self._durations.series(*self._labels, code))
        return known

    def _observe_event(self, event: Event | UnwantedEvent) -> None:
        now = time()
        # The comparison prevents an OverflowError: `occurred_at` is from the payload and may be too large for a float.
        self._lag.observe(now - event.occurred_at if event.occurred_at < now else 0.0)
        if event.webhooks is not None:
            self._redeliveries.values[()] += 1
        if event.event_type not in self._wanted:
            self._unexpected.values[_EVENT_TYPE] += 1
        if event.api_version != API_VERSION:
            self._unexpected.values[_API_VERSION] += 1
        if isinstance(event, Event) and (invoice := event.content.invoice) and invoice.line_items_next_offset:
            self._unexpected.values[_TRUNCATED] += 1
