"""One process of the service with one of its handlers, one connection, and a queue that the search controls."""

import asyncio
from collections.abc import Callable
from functools import cache

from fastapi import FastAPI

from app.server.bridge import Bridge
from app.server.connection import Connection
from app.server.limits import SWEEP_SECONDS, ConnectionLimits, Limits
from app.settings import WebSettings
from app.sqs.pending import too_late
from app.telemetry.observers import Observers
from app.web import releases
from app.web.admission import Admission
from app.web.intake import Intake
from app.web.main import create_app
from app.web.serve import routed
from app.web.service import Service
from app.web.webhooks import Webhooks
from tests.harness.held_queue import HeldQueue
from tests.harness.service import ASGI, CALLBACKS, PASSWORD, USER
from tests.simulation.connections.events import Event
from tests.simulation.connections.requests import MAX_BODY
from tests.simulation.connections.transport import Transport
from tests.simulation.loop import VirtualLoop, described
from tests.simulation.middleware import webhooks

HEAD_TIMEOUT, BODY_TIMEOUT, KEEP_ALIVE_TIMEOUT = 11.0, 7.0, 65.0
SETTINGS = {
    "basic_auth_username": USER,
    "basic_auth_password": PASSWORD,
    "sqs_queue_url": "http://sqs.local/1/q",
    "max_body_bytes": MAX_BODY,
    "head_timeout": HEAD_TIMEOUT,
    "body_timeout": BODY_TIMEOUT,
    "keep_alive_timeout": KEEP_ALIVE_TIMEOUT,
}


@cache
def _app(reader: str) -> FastAPI:
    """Returns the application, which all runs share: FastAPI needs milliseconds to make an application."""
    release = CALLBACKS if reader == "callbacks" else ASGI
    return create_app(WebSettings.model_validate({**SETTINGS, "release": release}))


class _Admission(Admission):
    overloaded = False

    def overload(self) -> str | None:
        return "overloaded" if self.overloaded else super().overload()


class Server:
    """A process with one connection. `errors`: its logged errors. `now`: virtual seconds since the connection began."""

    def __init__(self, reader: str, errors: list[str]) -> None:
        self.now, self.errors = 0.0, errors
        app = _app(reader)
        settings = Service.of(app).settings
        self.loop = VirtualLoop(lambda: self.now)
        self.loop.set_exception_handler(lambda _, context: errors.append(described(context)))
        self.admission = _Admission(settings)
        intake = Intake(settings, self.admission, Observers(), lambda record: None)
        self.queue = HeldQueue()
        self.connections: set[Connection] = set()
        self.limits = ConnectionLimits(self.loop, Limits(HEAD_TIMEOUT, BODY_TIMEOUT, KEEP_ALIVE_TIMEOUT))
        self.bridge = Bridge(app, {"queue": self.queue})
        self.webhooks = Webhooks(intake, releases.load(CALLBACKS).receive)
        if reader == "callbacks":
            handler = routed(app, self.webhooks, {"queue": self.queue})
        else:
            webhooks(app).intake = intake
            handler = self.bridge
        self.protocol = Connection(handler, self.limits, self.connections)
        self.client = Transport(self.protocol, self.loop)
        self.do(lambda: self.protocol.connection_made(self.client))

    def do(self, action: Callable[[], object], *, settled: bool = True) -> None:
        """Runs `action` in the event loop. If `settled` is False, the next action shares the iteration."""
        self.loop.call_soon(action)
        if settled:
            self.loop.settle()

    def send(self, data: bytes, *, settled: bool = True) -> None:
        self.do(lambda: self.client.send(data), settled=settled)

    def pass_time(self, seconds: float) -> None:
        until = self.now + seconds
        while (timer := self.loop.next_timer()) is not None and timer <= until:
            self.now = max(self.now, timer)
            self.loop.settle()
        self.now = until

    def skip_time(self, seconds: float) -> None:
        """Lets time pass in one step, and then until the next sweep: the first one only finds out that it is late."""
        for step in (seconds, SWEEP_SECONDS):
            self.now += step
            self.loop.settle()

    def event(self, event: Event) -> Callable[[], object]:
        """Returns a function that makes the event happen."""
        return {
            Event.ACKNOWLEDGED: lambda: self.queue.settle(None),
            Event.FAILED: lambda: self.queue.settle(too_late("SQS", sent=False)),
            Event.STOPS_SENDING: self.client.stop_sending,
            Event.RESETS: self.client.reset,
            Event.STOPS_READING: lambda: setattr(self.client, "refuses", True),
            Event.READS_AGAIN: self.client.read_again,
            Event.DRAINS: self.admission.drain,
            Event.STOPS: self._stop,
            Event.OVERLOADED: lambda: setattr(self.admission, "overloaded", True),
            Event.RECOVERED: lambda: setattr(self.admission, "overloaded", False),
        }[event]

    def _stop(self) -> None:
        self.admission.drain()
        if not self.client.ended:
            self.protocol.shutdown()

    @property
    def deadline(self) -> float | None:
        """The connection's deadline, or None. A body has a separate deadline: `body_deadline`."""
        return self.limits._deadlines.get(self.protocol)

    @property
    def body_deadline(self) -> float | None:
        return self.limits._body_deadlines.get(self.protocol)

    def left(self) -> dict[str, int]:
        """Returns the counters that are not 0 after the end of the connection, by name."""
        limits, admission = self.limits, self.admission
        found = {
            "webhooks in flight": admission.in_flight,
            "bytes of bodies": admission.buffered_bytes,
            "bytes of heads": limits.received._large_bytes,
            "deadlines": len(limits._deadlines) + len(limits._body_deadlines),
            "half-closed connections": len(limits._half_closed),
            "connections": len(self.connections),
            "tasks": len(asyncio.all_tasks(self.loop)),
            "exchanges": len(self.webhooks.open),
        }
        return {name: number for name, number in found.items() if number}

    def close(self) -> None:
        """Cancels the tasks, resets the connection and closes the event loop."""
        self.limits.close()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.client.reset()
        self.loop.settle()
        self.loop.end()
