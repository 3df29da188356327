"""What all releases share: the path, parsing the event, the response."""

from typing import Literal

from fastapi import Request
from pydantic import BaseModel

from app.events import Event, parse_event
from app.telemetry.record import WebhookRecord

PATH = "/webhooks/chargebee"


class Answer(BaseModel):
    """The body of a 200."""

    status: Literal["queued", "ignored"]
    event_id: str


def read_event(request: Request, body: bytes) -> Event | None:
    """The event to enqueue, or None for one of a type that is ignored. Raises InvalidEvent."""
    record: WebhookRecord = request.state.record
    record.body_bytes = len(body)
    wanted = request.app.state.settings.event_types
    event = record.event = parse_event(body, wanted)
    return event if isinstance(event, Event) and event.event_type in wanted else None


def queued(request: Request) -> Answer:
    """The response to a webhook whose message SQS has acknowledged, and to no other."""
    return _answer(request.state.record, "queued")


def ignored(request: Request) -> Answer:
    """The response to an event whose type is not in APP_EVENT_TYPES; after a 4xx, Chargebee would redeliver it."""
    return _answer(request.state.record, "ignored")


def _answer(record: WebhookRecord, status: Literal["queued", "ignored"]) -> Answer:
    assert record.event is not None
    record.outcome = status
    return Answer(status=status, event_id=record.event.id)
