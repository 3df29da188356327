"""Reads the event in a webhook's body, and decides whether the release handles the event or ignores it."""

from typing import Literal

from app.events import Event, parse_event
from app.telemetry.record import WebhookRecord

# "queued": SQS has acknowledged the message; "processed": the billing work is done.
Status = Literal["queued", "processed", "ignored"]


def read(record: WebhookRecord, body: bytes, wanted: frozenset[str]) -> Event | None:
    """Returns the event in `body`, or None if its type is not in `wanted`. Raises InvalidEvent."""
    record.body_bytes = len(body)
    event = record.event = parse_event(body, wanted)
    return event if isinstance(event, Event) and event.event_type in wanted else None


def accept(record: WebhookRecord, status: Status) -> str:
    """Records `status` as the webhook's outcome, and returns the event's id."""
    assert record.event is not None
    record.outcome = status
    return record.event.id
