"""POST /webhooks/chargebee without ASGI: the second door, whose steps the server's protocol calls.

The rules are those of `middleware`, the door over ASGI: this module only calls them in the same order.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from loguru import logger

from app.errors import WebhookRefused
from app.events import Event
from app.telemetry.trace import current, traced
from app.web.answers import Plain, plain
from app.web.gate import event as gate_event
from app.web.gate.admission import Permit
from app.web.gate.body import Arriving
from app.web.gate.gate import Fields, Gate, refuse
from app.web.middleware import PATH
from app.web.problems import ProblemResponse, unexpected
from app.web.server.exchange import Connection, Door, Exchange

_JSON = (b"content-type", b"application/json")
_SCOPE = {"method": "POST", "path": PATH}  # as in an ASGI scope


class CallbackDoor(Door):
    """Calls the release's `receive` for each webhook with a complete body. `open` are the webhooks in flight."""

    path = PATH.encode()

    def __init__(self, gate: Gate, receive: "Callable[[CallbackWebhook], None]") -> None:
        self.gate = gate
        self.receive = receive
        self.open: dict[CallbackWebhook, None] = {}

    def exchange(self, connection: Connection, keep_alive: bool) -> "CallbackWebhook":
        return CallbackWebhook(self, connection, keep_alive)

    def stop(self) -> None:
        """Answers the webhooks that are still in flight after APP_GRACEFUL_TIMEOUT."""
        for webhook in list(self.open):
            webhook.stop()


class CallbackWebhook(Exchange):
    """One webhook, from its head to its response."""

    __slots__ = ("_arriving", "_counted", "_door", "_permit", "record", "state")

    def __init__(self, door: CallbackDoor, connection: Connection, keep_alive: bool) -> None:
        super().__init__(connection, keep_alive)
        self.state: Mapping[str, Any] = connection.app_state
        self._door = door
        self._permit: Permit | None = None
        self._counted = 0  # bytes of the body

    def head_complete(self, fields: Fields) -> None:
        gate = self._door.gate
        if (response := gate.shed(fields)) is not None:
            self._write(response)
            return
        self.record = gate.begin(fields)
        self._door.open[self] = None
        self._guard(self._admit, fields)

    def _admit(self, fields: Fields) -> None:
        gate = self._door.gate
        gate.authenticate(fields)
        self._permit = gate.admit(fields)
        self._arriving = Arriving(self._permit, gate.limits)

    def body_incomplete(self) -> None:
        self.expect_body(self._door.gate.limits.body_timeout, self._late)
        self._guard(self._count, True)

    def body_complete(self) -> None:
        self._guard(self._receive, False)

    def _count(self, more: bool) -> None:
        received = self.received
        self._arriving.add(received - self._counted, more=more)
        self._counted = received

    def _late(self) -> None:
        self._end(refuse(self._arriving.too_late(), self.record))

    def _receive(self, more: bool) -> None:
        self._count(more)
        trace = self.record.trace
        if trace is None and current.get() is None:
            self._door.receive(self)
            return
        with traced(trace):
            self._door.receive(self)

    def read_event(self) -> Event | None:
        return gate_event.read(self.record, self.body, self._door.gate.limits.event_types)

    def ignored(self) -> None:
        self._accept("ignored")

    def settled(self, refused: WebhookRefused | None) -> None:
        if self not in self._door.open:
            return  # `stop` has answered this webhook
        if refused is None:
            self._guard(self._accept, "queued")
        else:
            self._end(refuse(refused, self.record))

    def _accept(self, status: Literal["queued", "ignored"]) -> None:
        body = plain(status, gate_event.accept(self.record, status))
        self._end(Plain(200, [(b"content-length", b"%d" % len(body)), _JSON], body))

    def abandoned(self) -> None:
        if self.more_body and self in self._door.open:
            self._end(None)  # otherwise, the message is on its way to SQS

    def stop(self) -> None:
        if (response := self._door.gate.stopped(self.record)) is not None:
            self._end(response)

    def _guard(self, step: Callable[[Any], None], argument: Any, scope: Mapping[str, str] = _SCOPE) -> None:
        """Calls `step`, and answers the errors that it raises. The watchdog reads method and path from `scope`."""
        try:
            step(argument)
        except WebhookRefused as error:
            self._end(refuse(error, self.record))
        except Exception:
            logger.exception("Exception in the webhook's handler")
            if not self.response_started:
                self._end(unexpected())

    def _end(self, response: "Plain | ProblemResponse | None") -> None:
        """Releases the permit, writes the response, if any, and passes the record to the log and the observers."""
        del self._door.open[self]
        if self._permit is not None:
            self._permit.release()
        if response is None:
            self.detach()
        else:
            self._write(response)
        self._door.gate.end(self.record)

    def _write(self, response: "Plain | ProblemResponse") -> None:
        self.respond(response.status_code, response.raw_headers, bytes(response.body))
