"""What every release does alike: the path, reading the event, the answer."""

from typing import Literal

from fastapi import Request
from pydantic import BaseModel

from app.events import Event, parse_event

PATH = "/webhooks/chargebee"


class Answer(BaseModel):
    """The body of a 200."""

    status: Literal["queued", "ignored"]
    event_id: str


def read_event(request: Request, body: bytes) -> Event | None:
    """The event to enqueue, or None for one of a type that is ignored. Raises InvalidEvent."""
    wanted = request.app.state.settings.event_types
    event = request.state.event = parse_event(body, wanted)
    return event if isinstance(event, Event) and event.event_type in wanted else None


def queued(request: Request) -> Answer:
    """The answer to a webhook whose message SQS has acknowledged: only then is this true."""
    return _answer(request, "queued")


def ignored(request: Request) -> Answer:
    """The answer to an event that nobody asked for; with a 4xx, Chargebee would redeliver it for days."""
    return _answer(request, "ignored")


def _answer(request: Request, status: Literal["queued", "ignored"]) -> Answer:
    answer: Answer
    answer = request.state.answer = Answer(status=status, event_id=request.state.event.id)
    return answer
