"""Sends the same bytes to both doors, ASGI and callbacks (see READERS), in one process, and compares the effects."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from loguru import logger

from app.server.connection import Connection
from app.server.limits import ConnectionLimits, Limits
from app.settings import WebSettings
from app.sqs.queue import refusal
from app.telemetry.metrics.instruments import Buckets
from app.telemetry.metrics.process_metrics import Metrics, info
from app.telemetry.metrics.webhook_metrics import WebhookMetrics
from app.telemetry.observers import Observers
from app.telemetry.record import WebhookRecord
from app.web.main import create_app
from app.web.middleware import PATH
from app.web.serve import routed
from app.web.service import Service
from loadtest.stage.fake_transports import FakeTransport
from tests.harness.held_queue import HeldQueue
from tests.harness.service import ASGI, CALLBACKS, PASSWORD, USER

MAX_BODY = 20_000
REFUSED = "refused by SQS"  # a message with this text gets an error
SETTINGS = {
    "basic_auth_username": USER,
    "basic_auth_password": PASSWORD,
    "sqs_queue_url": "http://127.0.0.1/1/q",
    "max_body_bytes": MAX_BODY,
    "log_format": "text",
}
# Log fields that differ between two equal webhooks even with the same door: the duration, and the id of a new span.
_OWN = ("duration_ms", "span_id")


class PretendedTransport(FakeTransport):
    """Stores the bytes that the server writes."""

    written = b""

    def on_write(self, data: bytes) -> None:
        if not self.is_closing():
            self.written += data

    def is_reading(self) -> bool:
        return True


class Side:
    """A release on this project's server, with one door. `reader`: the door, one of READERS.

    A message waits in `queue` until `handle` or the test gives it an outcome. `messages`: the acknowledged messages.
    """

    def __init__(self, reader: str, **settings: object) -> None:
        release = CALLBACKS if reader == "callbacks" else ASGI
        self.settings = WebSettings.model_validate({**SETTINGS, "release": release, **settings})
        metrics = WebhookMetrics("POST", PATH, self.settings.event_types)
        observers: Observers[WebhookRecord] = Observers(Metrics(metrics, info("test")))
        self._instruments = metrics.instruments
        self.app = create_app(self.settings, observers)
        self.service = Service.of(self.app)
        self.queue = HeldQueue()
        self.messages: list[tuple[str, dict[str, str]]] = []
        self._connections: set[Connection] = set()
        self.limits = ConnectionLimits(asyncio.get_running_loop(), Limits(10, 10, 65))
        self._handler = routed(self.app, self.service.webhooks, {"queue": self.queue})

    def close(self) -> None:
        self.limits.close()

    def connect(self) -> tuple[Any, PretendedTransport]:
        protocol: Any = Connection(self._handler, self.limits, self._connections)
        return protocol, PretendedTransport(protocol)

    async def handle(self, segments: list[bytes], end: str) -> dict[str, object]:
        """Sends `segments` on one connection, ends the connection as `end` says, and returns the effects.

        `end`: `after the answer`; `at once`, the same without pauses between the segments; or `before the answer`, the
        client disconnects while SQS works.
        """
        self.messages.clear()
        before = self._counts()
        answer = (lambda: None) if end == "before the answer" else self._answer
        logged: list[dict[str, object]] = []
        sink = logger.add(lambda line: logged.append(_line(line.record)), filter=_of_a_webhook)
        protocol, transport = self.connect()
        for segment in segments:
            if transport.is_closing():
                break
            protocol.data_received(segment)
            if end != "at once":
                await idle(answer)
        await idle(answer)
        answered, closed = transport.written, transport.is_closing()
        if end == "half-close" and not closed and not protocol.eof_received():
            transport.close()
        if end != "half-close":
            transport.close()
        await idle(answer)
        await idle(self._answer)
        logger.remove(sink)
        assert (self.service.admission.in_flight, self.service.admission.buffered_bytes) == (0, 0)
        assert self.service.webhooks is None or not self.service.webhooks.open
        return {
            "answered": re.sub(rb"date: [^\r]*\r\n", b"", transport.written if end == "half-close" else answered),
            "closed": closed,
            "queue": sorted(self.messages, key=str),
            "log": sorted(logged, key=str),
            "metrics": self._counts() - before,
        }

    def _answer(self) -> None:
        """Acknowledges each waiting message, unless it contains REFUSED."""
        for message, _ in list(self.queue.waiting):
            refused = REFUSED in message.body
            if not refused:
                self.messages.append((message.body, {**message.attributes, "received_at": ""}))
            self.queue.settle(refusal("InternalError", sent=True) if refused else None)

    def _counts(self) -> "Counter[str]":
        return Counter(
            {
                f"{instrument.description.name} {labels}": sum(value.counts)
                if isinstance(value, Buckets)
                else int(value)
                for instrument in self._instruments
                for labels, value in instrument.points()
            }
        )


def _of_a_webhook(record: Any) -> bool:
    return "outcome" in record["extra"]


def _line(record: Any) -> dict[str, object]:
    extra = {name: value for name, value in record["extra"].items() if name not in _OWN}
    return {"level": record["level"].name, "message": record["message"], **extra}


async def idle(answer: Callable[[], None] = lambda: None) -> None:
    """Returns when every task has had time to end, because each step of a webhook waits only for the loop.

    `answer` is called in each iteration of the loop.
    """
    for _ in range(100):
        await asyncio.sleep(0)
        answer()
