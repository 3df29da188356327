"""Defines what releases share: functions that read the event and create the response, and the interface `Webhook`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any, Protocol

from fastapi import Request

from app.errors import WebhookRefused
from app.events import Event
from app.telemetry.record import WebhookRecord
from app.web.answers import Answer, Processed
from app.web.gate import event as gate_event
from app.web.gate.gate import refuse
from app.web.problems import ProblemResponse
from app.web.service import Service

# The list includes Answer and Processed, because releases import both names from this module.
__all__ = ["Answer", "Processed", "Webhook", "ignored", "processed", "queued", "read_event", "refused"]


def read_event(request: Request, body: bytes) -> Event | None:
    """Returns the event in `body`, or None if its type is not in APP_EVENT_TYPES. Raises InvalidEvent."""
    return gate_event.read(_record(request), body, Service.of(request.app).settings.event_types)


def queued(request: Request) -> Answer:
    """Returns the response to a webhook whose message SQS has acknowledged."""
    return Answer(status="queued", event_id=gate_event.accept(_record(request), "queued"))


def processed(request: Request) -> Processed:
    """Returns the response to a webhook whose billing work is done."""
    return Processed(status="processed", event_id=gate_event.accept(_record(request), "processed"))


def ignored(request: Request) -> Answer:
    """Returns a 200 for an event whose type is not in APP_EVENT_TYPES. After a 4xx, Chargebee would redeliver it."""
    return Answer(status="ignored", event_id=gate_event.accept(_record(request), "ignored"))


async def refused(request: Request, error: WebhookRefused) -> ProblemResponse:
    """Returns the response to a webhook whose handler has raised `error`, as an exception handler of FastAPI."""
    return refuse(error, _record(request))


def _record(request: Request) -> WebhookRecord:
    """Returns the webhook's record. In an application without WebhookMiddleware, nothing else reads the record."""
    state = request.scope.setdefault("state", {})
    if "record" not in state:
        state["record"] = WebhookRecord(perf_counter())
    record: WebhookRecord = state["record"]
    return record


class Webhook(Protocol):
    """A webhook with a complete body, for a release whose handler needs no ASGI (v11).

    The handler calls `ignored`, or passes `settled` to `GroupCommit.submit`. `state` is what the lifespan has yielded.
    """

    @property
    def body(self) -> bytes: ...

    @property
    def state(self) -> Mapping[str, Any]: ...

    def read_event(self) -> Event | None:
        """Returns the event to enqueue, or None if its type is ignored. Raises InvalidEvent."""

    def ignored(self) -> None:
        """Answers 200 to an event of an ignored type."""

    def settled(self, refused: WebhookRefused | None) -> None:
        """Answers 200 if `refused` is None, because SQS has acknowledged the message; otherwise answers the error."""


def over_asgi(receive: Callable[[Webhook], None]) -> Callable[[Request], Awaitable[Answer]]:
    """Returns `receive` as a handler for FastAPI, for requests that the server does not pass to the second door."""

    async def respond(request: Request) -> Answer:
        webhook = _AsgiWebhook(request, await request.body())
        receive(webhook)
        try:
            answer = await webhook.answer
            return answer(request)
        finally:
            del webhook  # breaks a reference cycle, as in `GroupCommit.send`

    return respond


class _AsgiWebhook:
    """A webhook for a coroutine, which awaits the function that makes its `answer` and records the outcome.

    If the server cancels the coroutine before it does so, the webhook has no outcome yet, and gets a 503.
    """

    def __init__(self, request: Request, body: bytes) -> None:
        self.body = body
        self.answer: asyncio.Future[Callable[[Request], Answer]] = asyncio.get_running_loop().create_future()
        self._request = request

    @property
    def state(self) -> Mapping[str, Any]:
        state: Mapping[str, Any] = self._request.scope["state"]
        return state

    def read_event(self) -> Event | None:
        return read_event(self._request, self.body)

    def ignored(self) -> None:
        self.answer.set_result(ignored)

    def settled(self, refused: WebhookRefused | None) -> None:
        if self.answer.done():
            return  # the server has cancelled the request
        if refused is None:
            self.answer.set_result(queued)
        else:
            self.answer.set_exception(refused)
