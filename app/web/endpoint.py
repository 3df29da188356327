"""POST /webhooks/chargebee: the release's handler, behind the gate; what the metrics show of it."""

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.types import ASGIApp

from app.settings import Release, Settings
from app.telemetry.lines import WebhookLines
from app.telemetry.logging import log_webhook
from app.telemetry.observers import Observers
from app.telemetry.record import UNANSWERED, WebhookRecord
from app.web.experiments import response_as_named
from app.web.gate.admission import Admission
from app.web.gate.lane import Lane
from app.web.gate.outcome import Told
from app.web.gate.route import bare, gate, gated_route
from app.web.gate.shed import Shed
from app.web.openapi import described
from app.web.problems import REFUSALS
from app.web.releases import ReleaseModule
from app.web.webhook import PATH

if TYPE_CHECKING:
    from app.telemetry.metrics.service import Metrics


def add_endpoint(
    app: FastAPI, release: ReleaseModule, settings: Settings, admission: Admission, observers: Observers[WebhookRecord]
) -> None:
    """Adds the handler of `release` to `app`."""
    lean = getattr(release, "BARE", False)
    told = Told(observers.of_records(WebhookLines(settings).log if lean else log_webhook), observers.begin_trace)
    app.state.gate = gate(bare(release.receive), settings, admission, told) if lean else None
    app.router.add_api_route(
        PATH,
        release.receive,
        methods=["POST"],
        name="receive",
        summary="Take a Chargebee event",
        tags=["webhooks"],
        route_class_override=gated_route(settings, admission, told, app.state.gate),
        **described(settings.release),
        **response_as_named(settings.response, settings.release),
    )


def entrance(app: FastAPI, settings: Settings) -> ASGIApp:
    """`app` as it is served: behind load shedding, with a lane for the webhooks of a bare release.

    Middleware of ours has to run, so that there is no lane beside it.
    """
    inside = app if app.state.gate is None or app.user_middleware else Lane(app, app.state.gate)
    return Shed(inside, app.state.admission, settings, app.state.observers.of_records())


def measure(admission: Admission, metrics: "Metrics[WebhookRecord]", release: Release) -> None:
    """Adds the outcomes and the gauges of admission; called once, before the first webhook."""
    from app.telemetry.metrics.instruments import gauge  # not imported without metrics

    refusals = [(refusal.slug, refusal.status) for refusal in REFUSALS.values()]
    metrics.records.expect([(release.accepted, HTTPStatus.OK.value), ("ignored", HTTPStatus.OK.value), *refusals])
    metrics.records.expect([(UNANSWERED, None)])
    metrics.add(
        [
            gauge("http.server.active_requests", "{request}", "Webhooks in flight.", lambda: admission.in_flight),
            gauge("invoice_webhook.buffered", "By", "Bodies in memory.", lambda: admission.buffered_bytes),
        ]
    )
