"""What all releases share: the path, parsing the event, the response."""

from http import HTTPStatus
from typing import Literal

from fastapi import Request, Response
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from app.events import Event, parse_event
from app.settings import Release
from app.telemetry.record import WebhookRecord

PATH = "/webhooks/chargebee"


# "queued": SQS has acknowledged the message; "processed": the billing work is done.
Status = Literal["queued", "processed", "ignored"]


class Answer(BaseModel):
    """The body of a 200."""

    status: Literal["queued", "ignored"]
    event_id: str


class Processed(BaseModel):
    """The body of a 200 of a release that enqueues nothing."""

    status: Literal["processed", "ignored"]
    event_id: str


def answer_of(release: Release) -> type[BaseModel]:
    """The body of its 200s."""
    return Answer if release.enqueues else Processed


class Plain(Response):
    """An Answer for a route that is called bare: bytes, and no more headers than needed."""

    def __init__(self, request: Request, status: Literal["queued", "ignored"]) -> None:
        # The pattern of event ids has no character that JSON escapes.
        self.body = f'{{"status":"{status}","event_id":"{_event_id(request, status)}"}}'.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"%d" % len(self.body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


async def read_body(request: Request) -> bytes:
    """As `request.body()`, without its generator: most bodies are in one piece. Raises ClientDisconnect."""
    body: bytes = b""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return body


def read_event(request: Request, body: bytes) -> Event | None:
    """The event to enqueue (v01: to process), or None for one of a type that is ignored. Raises InvalidEvent."""
    record: WebhookRecord = request.state.record
    record.body_bytes = len(body)
    wanted = request.app.state.settings.event_types
    event = record.event = parse_event(body, wanted)
    return event if isinstance(event, Event) and event.event_type in wanted else None


def queued(request: Request) -> Answer:
    """The response to a webhook whose message SQS has acknowledged, and to no other."""
    return Answer(status="queued", event_id=_event_id(request, "queued"))


def processed(request: Request) -> Processed:
    """The response to a webhook whose billing work is done, and to no other."""
    return Processed(status="processed", event_id=_event_id(request, "processed"))


def ignored(request: Request) -> Answer:
    """The response to an event whose type is not in APP_EVENT_TYPES; after a 4xx, Chargebee would redeliver it."""
    return Answer(status="ignored", event_id=_event_id(request, "ignored"))


def _event_id(request: Request, status: Status) -> str:
    """Of the webhook that is answered with `status`."""
    record: WebhookRecord = request.state.record
    assert record.event is not None
    record.outcome = status
    return record.event.id
