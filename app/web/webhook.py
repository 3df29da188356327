"""The functions that all releases share. They read the body and the event, and create the response."""

from typing import Literal

from fastapi import Request
from starlette.requests import ClientDisconnect

from app.events import Event, parse_event
from app.telemetry.record import WebhookRecord
from app.web.answers import Answer, Plain, Processed
from app.web.service import Service

# The list includes Answer and Processed, because releases import both names from this module.
__all__ = ["Answer", "Processed", "ignored", "plain", "processed", "queued", "read_body", "read_event"]

# "queued": SQS has acknowledged the message; "processed": the billing work is done.
Status = Literal["queued", "processed", "ignored"]


async def read_body(request: Request) -> bytes:
    """Returns the body like Starlette's `request.body()`, but avoids its async generator. Raises ClientDisconnect."""
    body: bytes = b""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return body


def read_event(request: Request, body: bytes) -> Event | None:
    """Returns the event in `body`, or None if its type is not in APP_EVENT_TYPES. Raises InvalidEvent."""
    record = _record(request)
    record.body_bytes = len(body)
    wanted = Service.of(request).settings.event_types
    event = record.event = parse_event(body, wanted)
    return event if isinstance(event, Event) and event.event_type in wanted else None


def queued(request: Request) -> Answer:
    """Returns the response to a webhook whose message SQS has acknowledged."""
    return Answer(status="queued", event_id=_event_id(request, "queued"))


def processed(request: Request) -> Processed:
    """Returns the response to a webhook whose billing work is done."""
    return Processed(status="processed", event_id=_event_id(request, "processed"))


def ignored(request: Request) -> Answer:
    """Returns a 200 for an event whose type is not in APP_EVENT_TYPES. After a 4xx, Chargebee would redeliver it."""
    return Answer(status="ignored", event_id=_event_id(request, "ignored"))


def plain(request: Request, status: Literal["queued", "ignored"]) -> Plain:
    """Returns the response of `queued` or `ignored` in the form that a handler needs if FastAPI does not call it."""
    return Plain(status, _event_id(request, status))


def _event_id(request: Request, status: Status) -> str:
    """Records `status` as the webhook's outcome, and returns the event's id."""
    record = _record(request)
    assert record.event is not None
    record.outcome = status
    return record.event.id


def _record(request: Request) -> WebhookRecord:
    record: WebhookRecord = request.state.record
    return record
