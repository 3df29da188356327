"""Handles webhooks without ASGI: calls the steps of `intake` and the release's `receive`."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from loguru import logger

from app.errors import WebhookRefused
from app.events import ParseEvent, WebhookEvent
from app.server.request import Exchange, Lost, Request
from app.telemetry.trace import current, traced
from app.web import intake as steps
from app.web.admission import Permit
from app.web.answers import Plain, plain
from app.web.intake import Intake, refuse
from app.web.middleware import PATH
from app.web.problems import ProblemResponse, unexpected

_JSON = (b"content-type", b"application/json")
_SCOPE = {"method": "POST", "path": PATH}  # as in an ASGI scope


class Webhooks:
    """Handles each webhook. `receive`: the release's handler. `open`: the webhooks in flight."""

    def __init__(self, intake: Intake, receive: "Callable[[DirectWebhook], None]") -> None:
        self.intake, self.receive = intake, receive
        self.state: Mapping[str, Any] = {}
        self.open: dict[DirectWebhook, None] = {}

    def begin(self, state: Mapping[str, Any]) -> None:
        """Stores `state`, which the release's lifespan has yielded."""
        self.state = state

    def __call__(self, request: Request) -> Exchange | None:
        if (response := self.intake.shed(request.fields)) is not None:
            request.respond(response.status_code, response.raw_headers, bytes(response.body))
            return None
        webhook = DirectWebhook(self, request)
        webhook.begin()
        return webhook


class DirectWebhook:
    """One webhook, from its head to its response. Releases import it as `Webhook`; to the server, it is an `Exchange`.

    When the body is complete, the release's handler calls `ignored`, or passes `settled` to `GroupCommit.submit`.
    `GroupCommit` calls `settled` with None if SQS has acknowledged the message, and otherwise with an error. `settled`
    then sends the response. `state`: the value that the release's lifespan has yielded.
    """

    __slots__ = ("_counted", "_permit", "_request", "_webhooks", "body", "record")

    def __init__(self, webhooks: Webhooks, request: Request) -> None:
        self._webhooks, self._request = webhooks, request
        self._permit: Permit | None = None
        self._counted = 0  # bytes of the body that `_permit` has counted
        self.body = b""  # empty until the whole body has arrived
        self.record = webhooks.intake.begin(request.fields)
        webhooks.open[self] = None

    @property
    def state(self) -> Mapping[str, Any]:
        return self._webhooks.state

    def begin(self) -> None:
        self._guard(self._admit)

    def _admit(self) -> None:
        request = self._request
        self._permit = self._webhooks.intake.head(request.fields)
        request.want_body()

    def proceed(self) -> None:
        self._guard(self._receive)

    def _receive(self) -> None:
        request, permit = self._request, self._permit
        assert permit is not None
        permit.receive(request.received - self._counted, more=not request.complete)
        self._counted = request.received
        if not request.complete:
            return
        self.body = request.take_body()
        trace = self.record.trace
        if trace is None and current.get() is None:
            self._webhooks.receive(self)
            return
        with traced(trace):
            self._webhooks.receive(self)

    def read_event(self, parse: ParseEvent) -> WebhookEvent | None:
        """Returns the body's event, or None if its type is ignored. Raises InvalidEvent if `parse` rejects the body."""
        return steps.event(self.record, self.body, self._webhooks.intake.limits.event_types, parse)

    def ignored(self) -> None:
        """Answers 200 to an event of an ignored type."""
        self._accept("ignored")

    def settled(self, refused: WebhookRefused | None) -> None:
        if self not in self._webhooks.open:
            return  # `lose` has ended this webhook
        self._guard(self._queued if refused is None else partial(self._refuse, refused))

    def _refuse(self, refused: WebhookRefused) -> None:
        self._end(refuse(refused, self.record))

    def _queued(self) -> None:
        self._accept("queued")

    def _accept(self, status: Literal["queued", "ignored"]) -> None:
        body = plain(status, steps.accept(self.record, status))
        self._end(Plain(200, [(b"content-length", b"%d" % len(body)), _JSON], body))

    def lose(self, lost: Lost) -> None:
        if self not in self._webhooks.open:
            return
        if lost is Lost.LATE and self._permit is not None:
            self._refuse(self._permit.too_late())
        elif lost is Lost.STOPPED and (response := self._webhooks.intake.stopped(self.record)) is not None:
            self._end(response)
        elif not self._request.complete:
            self._end(None)  # if the body is complete, the webhook ends only when SQS has answered

    def _guard(self, step: Callable[[], None], scope: Mapping[str, str] = _SCOPE) -> None:
        """Calls `step`. If `step` raises an exception, sends the error response.

        The event loop's watchdog reads method and path from this call's variable `scope`.
        """
        try:
            step()
        except WebhookRefused as error:
            self._refuse(error)
        except Exception:
            logger.exception("Exception in the webhook's handler")
            if not self._request.begun:
                self._end(unexpected())

    def _end(self, response: "Plain | ProblemResponse | None") -> None:
        """Releases the permit, writes the response, if any, and passes the record to the log and the observers."""
        self._webhooks.open.pop(self, None)
        if self._permit is not None:
            self._permit.release()
        self.body = b""
        if response is not None:
            self._request.respond(response.status_code, response.raw_headers, bytes(response.body))
        self._webhooks.intake.end(self.record)
