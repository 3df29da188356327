"""What `app.web` tells the metrics: its outcomes, and the gauges of admission."""

from http import HTTPStatus

from app.settings import Release
from app.telemetry.metrics.instruments import gauge
from app.telemetry.metrics.service import Metrics
from app.telemetry.record import UNANSWERED, WebhookRecord
from app.web.gate.admission import Admission
from app.web.problems import REFUSALS


def measure(admission: Admission, metrics: Metrics[WebhookRecord], release: Release) -> None:
    """Before the first webhook, once."""
    refusals = [(refusal.slug, refusal.status) for refusal in REFUSALS.values()]
    metrics.records.expect([(release.accepted, HTTPStatus.OK.value), ("ignored", HTTPStatus.OK.value), *refusals])
    metrics.records.expect([(UNANSWERED, None)])
    metrics.add(
        [
            gauge("http.server.active_requests", "{request}", "Webhooks in flight.", lambda: admission.in_flight),
            gauge("invoice_webhook.buffered", "By", "Bodies in memory.", lambda: admission.buffered_bytes),
        ]
    )
