"""One process of the service, one of its ways to the handler, one connection, and a queue that waits for orders."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.server import ServerState

from app.errors import WebhookRefused
from app.settings import WebSettings
from app.sqs.message import Message
from app.sqs.pending import too_late
from app.telemetry.observers import Observers
from app.web.callbacks import CallbackDoor
from app.web.gate.admission import Admission
from app.web.gate.gate import Gate
from app.web.main import create_app
from app.web.releases import v11_without_asgi
from app.web.server.connections import ConnectionLimits
from app.web.server.serve import CALLBACKS, HTTP, uvicorn_config
from app.web.service import Service
from tests.harness.service import PASSWORD, USER
from tests.simulation.connections.events import Event
from tests.simulation.connections.requests import MAX_BODY
from tests.simulation.connections.transport import Transport
from tests.simulation.loop import VirtualLoop
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
def _app(reader: str) -> tuple[FastAPI, uvicorn.Config]:
    """Returns the application and its configuration, which all runs share: FastAPI needs milliseconds to make one."""
    settings = WebSettings.model_validate(SETTINGS)
    app = create_app(settings)
    config = uvicorn_config(app, settings, CALLBACKS if reader == "callbacks" else HTTP)
    config.load()
    return app, config


class _Admission(Admission):
    overloaded = False

    def overload(self) -> str | None:
        return "overloaded" if self.overloaded else super().overload()


class _Queue:
    """Stands in for SQS: `settle` ends the oldest message. `waiting`: the callback of each message, oldest first."""

    fifo = False

    def __init__(self) -> None:
        self.waiting: list[Callable[[WebhookRefused | None], None]] = []

    def submit(self, message: Message, settled: Callable[[WebhookRefused | None], None]) -> None:
        self.waiting.append(settled)

    async def send(self, message: Message) -> None:
        sent: asyncio.Future[WebhookRefused | None] = asyncio.get_running_loop().create_future()
        self.waiting.append(lambda refused: None if sent.done() else sent.set_result(refused))
        if (refused := await sent) is not None:
            raise refused

    def settle(self, refused: WebhookRefused | None) -> None:
        if self.waiting:
            self.waiting.pop(0)(refused)


class Server:
    """`errors`: what the process has logged as an error. `now`: seconds of virtual time since the connection began."""

    def __init__(self, reader: str, errors: list[str]) -> None:
        self.now, self.errors = 0.0, errors
        app, config = _app(reader)
        settings = Service.of(app).settings
        self.loop = VirtualLoop(lambda: self.now)
        self.loop.set_exception_handler(lambda _, context: errors.append(str(context)))
        self.admission = _Admission(settings)
        gate = Gate(settings, self.admission, Observers(), lambda record: None)
        webhooks(app).gate = gate
        self.door = CallbackDoor(gate, v11_without_asgi.receive) if reader == "callbacks" else None
        self.queue, self.state = _Queue(), ServerState()
        self.limits = ConnectionLimits(self.loop, HEAD_TIMEOUT, KEEP_ALIVE_TIMEOUT)
        self.protocol: Any = config.http_protocol_class(  # type: ignore[call-arg]  # one of this project's
            limits=self.limits,
            config=config,
            server_state=self.state,
            app_state={"queue": self.queue},
            _loop=self.loop,
            **({} if self.door is None else {"door": self.door}),
        )
        self.client = Transport(self.protocol, self.loop)
        self.do(lambda: self.protocol.connection_made(self.client))

    def do(self, action: Callable[[], object], *, settled: bool = True) -> None:
        """Runs `action` in the event loop. Unless `settled`, the next action shares its iteration."""
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
        """Lets time pass in one step, so that each timer fires once."""
        self.now += seconds
        self.loop.settle()

    def event(self, event: Event) -> Callable[[], object]:
        """Returns what makes the event happen."""
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
    def deadline(self) -> tuple[str, float] | None:
        """The name of the action at the connection's deadline, and its time."""
        found = self.limits._deadlines.get(self.protocol)
        return None if found is None else (found[1].__name__, found[0])

    @property
    def body_deadline(self) -> float | None:
        found = self.limits._body_deadlines.get(self.protocol)
        return None if found is None else found[0]

    def left(self) -> dict[str, int]:
        """Returns the counters that are not 0 after the end of the connection, by name."""
        limits, admission = self.limits, self.admission
        found = {
            "webhooks in flight": admission.in_flight,
            "bytes of bodies": admission.buffered_bytes,
            "bytes of heads": limits.received._head_bytes,
            "deadlines": len(limits._deadlines) + len(limits._body_deadlines),
            "half-closed connections": len(limits._half_closed),
            "connections": len(self.state.connections),
            "tasks": len(self.state.tasks),
            "exchanges": len(self.door.open) if self.door is not None else 0,
        }
        return {name: number for name, number in found.items() if number}

    def close(self) -> None:
        """Cancels the tasks, resets the connection and closes the event loop."""
        self.limits.close()
        for task in list(self.state.tasks):
            task.cancel()
        self.client.reset()
        self.loop.settle()
        self.loop.end()
