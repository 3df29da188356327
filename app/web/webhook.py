"""Defines what releases share: functions that read the event and create the response, and the class `Webhook`."""

from time import perf_counter

from fastapi import Request

from app.errors import WebhookRefused
from app.events import Event, parse_event
from app.telemetry.record import WebhookRecord
from app.web import intake
from app.web.answers import Answer, Processed
from app.web.intake import refuse
from app.web.problems import ProblemResponse
from app.web.service import Service
from app.web.webhooks import DirectWebhook as Webhook

# The list includes Answer, Processed and Webhook, because releases import these names from this module.
__all__ = ["Answer", "Processed", "Webhook", "ignored", "processed", "queued", "read_event", "refused"]


def read_event(request: Request, body: bytes) -> Event | None:
    """Returns the event in `body`, or None if its type is ignored. Raises InvalidEvent if `body` is no valid event."""
    event = intake.event(_record(request), body, Service.of(request.app).settings.event_types, parse_event)
    return event if isinstance(event, Event) else None


def queued(request: Request) -> Answer:
    """Returns the response to a webhook whose message SQS has acknowledged."""
    return Answer(status="queued", event_id=intake.accept(_record(request), "queued"))


def processed(request: Request) -> Processed:
    """Returns the response to a webhook whose billing work is done."""
    return Processed(status="processed", event_id=intake.accept(_record(request), "processed"))


def ignored(request: Request) -> Answer:
    """Returns a 200 for an event of an ignored type. After a 4xx, Chargebee would redeliver the event."""
    return Answer(status="ignored", event_id=intake.accept(_record(request), "ignored"))


async def refused(request: Request, error: WebhookRefused) -> ProblemResponse:
    """Returns the response to a webhook whose handler has raised `error`. FastAPI calls this exception handler."""
    return refuse(error, _record(request))


def _record(request: Request) -> WebhookRecord:
    """Returns the webhook's record. Creates the record if the application has no WebhookMiddleware.

    A reader may paste a release into such an application: see docs/questions/use_a_release.md.
    """
    state = request.scope.setdefault("state", {})
    if "record" not in state:
        state["record"] = WebhookRecord(perf_counter())
    record: WebhookRecord = state["record"]
    return record
