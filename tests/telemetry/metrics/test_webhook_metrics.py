"""The metrics of webhooks, whatever Chargebee sends."""

import json
import time
from typing import Any

import pytest

from app.events import parse_event
from app.settings import WebSettings
from app.telemetry.metrics.instruments import Buckets, Instrument, Point
from app.telemetry.metrics.webhook_metrics import WebhookMetrics
from app.telemetry.record import UNANSWERED, WebhookRecord

WANTED = WebSettings().event_types
SIGNALS = ("event_type", "api_version", "truncated_line_items")


@pytest.fixture
def metrics() -> WebhookMetrics:
    metrics = WebhookMetrics("POST", "/webhooks/chargebee", WANTED)
    metrics.expect([("queued", 200), ("ignored", 200), ("overloaded", 503), (UNANSWERED, None)])
    return metrics


def observe(metrics: WebhookMetrics, event: bytes, **changes: Any) -> None:
    """Observes one webhook that took 10 ms."""
    body = json.dumps(json.loads(event) | changes).encode()
    parsed = parse_event(body, WANTED)
    outcome = "queued" if parsed.event_type in WANTED else "ignored"
    metrics.observe(WebhookRecord(1.0, outcome, answered=1.01, event=parsed))


def points(metrics: WebhookMetrics, name: str) -> dict[Any, Any]:
    found: dict[str, Instrument] = {instrument.description.name: instrument for instrument in metrics.instruments}
    return dict(found[name].points())


def series(metrics: WebhookMetrics) -> list[Point]:
    return [(labels, 0) for instrument in metrics.instruments for labels, _ in instrument.points()]


def test_outcomes_and_latencies(metrics: WebhookMetrics, event: bytes) -> None:
    """Each webhook adds one outcome and one latency by status; a webhook without an answer has no status."""
    observe(metrics, event)
    metrics.observe(WebhookRecord(1.0, "overloaded", 503, answered=1.5))
    metrics.observe(WebhookRecord(1.0, answered=1.5))
    counted = points(metrics, "invoice_webhook.webhooks")
    assert counted == {("queued",): 1, ("ignored",): 0, ("overloaded",): 1, (UNANSWERED,): 1}
    durations = points(metrics, "http.server.request.duration")
    assert {labels[2]: sum(found.counts) for labels, found in durations.items()} == {200: 1, 503: 1, "": 1}
    assert durations["POST", "/webhooks/chargebee", 200].total == pytest.approx(0.01)


def test_an_outcome_that_was_not_expected(metrics: WebhookMetrics) -> None:
    """An outcome that was not announced is counted as well."""
    metrics.observe(WebhookRecord(1.0, "invalid-event", 422, answered=1.5))
    assert points(metrics, "invoice_webhook.webhooks")["invalid-event",] == 1
    assert ("POST", "/webhooks/chargebee", 422) in points(metrics, "http.server.request.duration")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"event_type": "customer_created"}, "event_type"),
        ({"api_version": "v3"}, "api_version"),
        ({}, None),
    ],
)
def test_unexpected_events(metrics: WebhookMetrics, event: bytes, changes: dict[str, Any], kind: str | None) -> None:
    """Only the kind is counted, never the value."""
    observe(metrics, event, **changes)
    assert points(metrics, "invoice_webhook.unexpected_events") == {(name,): int(name == kind) for name in SIGNALS}


def test_truncated_line_items(metrics: WebhookMetrics, event: bytes) -> None:
    """In such an event, the invoice names the offset of the missing line items."""
    content = json.loads(event)["content"]
    content["invoice"]["line_items_next_offset"] = '["300"]'
    observe(metrics, event, content=content)
    assert points(metrics, "invoice_webhook.unexpected_events")["truncated_line_items",] == 1


def test_redeliveries(metrics: WebhookMetrics, event: bytes) -> None:
    """An event with `webhooks` counts as a redelivery."""
    observe(metrics, event)
    observe(metrics, event, webhooks=[{"id": "wh_1", "webhook_status": "failed"}])
    assert points(metrics, "invoice_webhook.redeliveries") == {(): 1}


@pytest.mark.parametrize("seconds", [0, 100, 10_000_000])
def test_delivery_lag(metrics: WebhookMetrics, event: bytes, seconds: int) -> None:
    """The lag is the present time minus occurred_at."""
    began = time.time()
    observe(metrics, event, occurred_at=int(began) - seconds)
    lag: Buckets = points(metrics, "invoice_webhook.delivery_lag")[()]
    assert seconds <= lag.total <= seconds + time.time() - int(began)
    assert sum(lag.counts) == 1


@pytest.mark.parametrize("occurred_at", [2**40, 10**400])
def test_an_event_of_the_future(metrics: WebhookMetrics, event: bytes, occurred_at: int) -> None:
    """The lag is 0, even if the time is too long for a float."""
    observe(metrics, event, occurred_at=occurred_at)
    assert points(metrics, "invoice_webhook.delivery_lag")[()].total == 0.0


def test_odd_events_make_no_series(metrics: WebhookMetrics, event: bytes) -> None:
    """10,000 event types, ids and versions add no series."""
    before = series(metrics)
    for number in range(10_000):
        observe(metrics, event, event_type=f"odd_{number}", api_version=f"v{number}", id=f"ev_{number}", source="x")
    assert series(metrics) == before
    assert points(metrics, "invoice_webhook.unexpected_events")["event_type",] == 10_000
