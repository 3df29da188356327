"""POST /webhooks/chargebee: the release's handler, behind the gate."""

from fastapi import FastAPI

from app.settings import Settings
from app.web import responses
from app.web.gate.admission import Admission
from app.web.gate.route import gated_route
from app.web.openapi import EXTRA, RESPONSES
from app.web.releases import ReleaseModule
from app.web.webhook import PATH


def add_endpoint(app: FastAPI, release: ReleaseModule, settings: Settings, admission: Admission) -> None:
    """Adds the handler of `release` to `app`."""
    app.router.add_api_route(
        PATH,
        release.receive,
        methods=["POST"],
        name="receive",
        summary="Take a Chargebee event",
        description="Answers 200 once SQS has acknowledged the message, never before.",
        tags=["webhooks"],
        responses=RESPONSES,
        openapi_extra=EXTRA,
        route_class_override=gated_route(settings, admission),
        **responses.RESPONSES[settings.response],
    )
