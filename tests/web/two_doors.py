"""Sends the same bytes to both doors, ASGI and callbacks (see READERS), in one process, and compares the effects."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from loguru import logger

from app.errors import WebhookRefused
from app.server.bridge import Bridge
from app.server.connection import Connection
from app.server.limits import ConnectionLimits, Limits
from app.server.request import Handler
from app.settings import Release, WebSettings
from app.sqs.message import Message
from app.sqs.queue import QueueAddress, SendLimits, refusal
from app.telemetry.metrics.instruments import Buckets
from app.telemetry.metrics.process_metrics import Metrics, info
from app.telemetry.metrics.webhook_metrics import WebhookMetrics
from app.telemetry.observers import Observers
from app.telemetry.record import CallRecord, WebhookRecord
from app.web import releases
from app.web.main import create_app
from app.web.middleware import PATH
from app.web.serve import routed
from app.web.service import Service
from loadtest.stage.fake_transports import FakeTransport
from tests.harness.service import ASGI, CALLBACKS, PASSWORD, READERS, USER

MAX_BODY = 20_000
REFUSED = "refused by SQS"  # the pretended SQS rejects a message with this text
SETTINGS = {
    "basic_auth_username": USER,
    "basic_auth_password": PASSWORD,
    "sqs_queue_url": "http://127.0.0.1/1/q",
    "max_body_bytes": MAX_BODY,
    "log_format": "text",
}
# Log fields that differ between two equal webhooks even with the same door: the duration, and the id of a new span.
_OWN = ("duration_ms", "span_id")


class PretendedQueue:
    """Acknowledges each message in a later iteration of the event loop, unless it contains REFUSED."""

    fifo = False

    def __init__(self) -> None:
        self.messages: list[tuple[str, dict[str, str]]] = []
        self.working = asyncio.Event()
        self.working.set()

    async def warm(self) -> None:
        """Does nothing, because there is no connection to open."""

    async def send_batch(
        self, messages: Sequence[Message], deadline: float, record: CallRecord
    ) -> list[WebhookRefused | None]:
        await self.working.wait()
        await asyncio.sleep(0)
        taken = [message for message in messages if REFUSED not in message.body]
        self.messages += [(message.body, {**message.attributes, "received_at": ""}) for message in taken]
        record.code = None
        return [None if message in taken else refusal("InternalError", sent=True) for message in messages]


class PretendedTransport(FakeTransport):
    """Stores the bytes that the server writes."""

    written = b""

    def on_write(self, data: bytes) -> None:
        if not self.is_closing():
            self.written += data

    def is_reading(self) -> bool:
        return True


def release_of(reader: str) -> Release:
    return CALLBACKS if reader == "callbacks" else ASGI


class Side:
    """A release on this project's server, with one door. `reader`: the door, one of READERS."""

    def __init__(self, reader: str, queue: PretendedQueue, **settings: object) -> None:
        self.settings = WebSettings.model_validate({**SETTINGS, "release": release_of(reader), **settings})
        metrics = WebhookMetrics("POST", PATH, self.settings.event_types)
        observers: Observers[WebhookRecord] = Observers(Metrics(metrics, info("test")))
        self._instruments = metrics.instruments
        self.app = create_app(self.settings, observers)
        self.service = Service.of(self.app)
        self.queue = queue
        self._connections: set[Connection] = set()
        self.limits = ConnectionLimits(asyncio.get_running_loop(), Limits(10, 10, 65))
        self.handler: Handler | None = None

    def close(self) -> None:
        self.limits.close()

    def open(self, state: dict[str, Any]) -> None:
        """Makes the handler. `state`: the value that the release's lifespan has yielded."""
        webhooks = self.service.webhooks
        self.handler = Bridge(self.app, state) if webhooks is None else routed(self.app, webhooks, state)

    def connect(self) -> tuple[Any, PretendedTransport]:
        assert self.handler is not None
        protocol: Any = Connection(self.handler, self.limits, self._connections)
        return protocol, PretendedTransport(protocol)

    async def handle(self, segments: list[bytes], end: str) -> dict[str, object]:
        """Sends `segments` on one connection, ends the connection as `end` says, and returns the effects.

        `end`: `after the answer`; `at once`, the same without pauses between the segments; or `before the answer`, the
        client disconnects while SQS works.
        """
        self.queue.messages.clear()
        before = self._counts()
        if end == "before the answer":
            self.queue.working.clear()
        logged: list[dict[str, object]] = []
        sink = logger.add(lambda line: logged.append(_line(line.record)), filter=_of_a_webhook)
        protocol, transport = self.connect()
        for segment in segments:
            if transport.is_closing():
                break
            protocol.data_received(segment)
            if end != "at once":
                await idle()
        await idle()
        answered, closed = transport.written, transport.is_closing()
        if end == "half-close" and not transport.is_closing() and not protocol.eof_received():
            transport.close()
        if end != "half-close":
            transport.close()
        await idle()
        self.queue.working.set()
        await idle()
        logger.remove(sink)
        assert (self.service.admission.in_flight, self.service.admission.buffered_bytes) == (0, 0)
        assert self.service.webhooks is None or not self.service.webhooks.open
        return {
            "answered": re.sub(rb"date: [^\r]*\r\n", b"", transport.written if end == "half-close" else answered),
            "closed": closed,
            "queue": sorted(self.queue.messages, key=str),
            "log": sorted(logged, key=str),
            "metrics": self._counts() - before,
        }

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


async def idle() -> None:
    """Returns when every task has had time to end, because each step of a webhook waits only for the loop."""
    for _ in range(100):
        await asyncio.sleep(0)


@asynccontextmanager
async def side(reader: str = READERS[0], **settings: object) -> AsyncIterator[Side]:
    """Yields a `Side` with a pretended queue and these settings."""
    queue, module = PretendedQueue(), releases.load(release_of(reader))

    @asynccontextmanager
    async def open_pretended(address: QueueAddress, limits: SendLimits) -> AsyncIterator[PretendedQueue]:
        yield queue

    opened, module.open_lean = module.open_lean, open_pretended  # type: ignore[attr-defined]  # the release imports it
    async with AsyncExitStack() as stack:
        made = Side(reader, queue, **settings)
        stack.callback(made.close)
        made.open(await stack.enter_async_context(module.lifespan(made.app)))
        module.open_lean = opened  # type: ignore[attr-defined]
        yield made
