"""Serves webhooks in one process without sockets, so that callgrind can count the instructions of the webhooks.

python -m loadtest.stage.in_process SUBJECT WEBHOOKS    SUBJECT: a release, or asgi_noop

The process runs the same code as under an attack: `python -m app web`, or asgi_noop (uvicorn alone). Only the server's
main loop and the functions that open sockets are replaced. The fake SQS answers one call at a time. Meanwhile, other
calls stay in flight, and webhooks wait, as under load.
"""

import asyncio
import base64
import gc
import json
import os
import runpy
import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import aiohappyeyeballs
import uvicorn
import uvloop

from app.server.connection import Connection
from app.server.limits import ConnectionLimits
from app.server.run import Server
from loadtest.stage.callgrind import counting
from loadtest.stage.fake_transports import FakeSqs, Sender
from local.sample_events import default_file

USERS = 64
WARM = 300  # webhooks before the count, so that the interpreter specialises code, and the service fills its caches
TURNS = 8  # iterations of the event loop between two responses of SQS, enough for a webhook to join a batch
PATIENCE = 1000  # the run fails after more than this many calls of `_answer` in a row without a response to a sender
FLOOR = "asgi_noop"
HEAD = (
    b"POST /webhooks/chargebee HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nUser-Agent: Go-http-client/1.1\r\n"
    b"Content-Length: %d\r\nAuthorization: Basic %s\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
)


class Senders:
    """A closed loop of USERS connections. Each one waits for the response to a webhook before it sends the next one."""

    def __init__(self, connect: Callable[[], asyncio.Protocol], sqs: FakeSqs, webhooks: int) -> None:
        self._sqs = sqs
        self._requests = iter(requests(webhooks))
        self._idle = deque(Sender(connect(), self._on_answer) for _ in range(USERS))
        self._refused: bytes | None = None
        self._fruitless = 0
        self.answered = 0

    def _on_answer(self, sender: Sender, response: bytes) -> None:
        if not response.startswith(b"HTTP/1.1 200 "):
            self._refused = response
        self.answered += 1
        self._idle.append(sender)

    async def send(self, webhooks: int) -> None:
        """Sends webhooks until `webhooks` of them, or a few more, are answered. Keeps USERS webhooks in flight."""
        end = self.answered + webhooks
        while self.answered < end:
            while self._idle:
                self._idle.popleft().protocol.data_received(next(self._requests))
            await self._answer()

    async def finish(self) -> None:
        """Waits until all webhooks in flight are answered, and closes the connections."""
        while len(self._idle) < USERS:
            await self._answer()
        for sender in self._idle:
            sender.close()

    async def _answer(self) -> None:
        """Makes SQS answer a call. Raises RuntimeError if a response is not 200, or if none arrives: see PATIENCE."""
        before = self.answered
        for _ in range(TURNS):
            await asyncio.sleep(0)
        self._sqs.answer_oldest()
        self._fruitless = 0 if self.answered > before else self._fruitless + 1
        if self._refused is not None or self._fruitless > PATIENCE:
            raise RuntimeError(f"not answered with 200: {self._refused!r}")


def requests(number: int) -> list[bytes]:
    """Returns HTTP requests with the load test's webhook. Each request has a different event id."""
    template = default_file().read_bytes()
    old = json.loads(template)["id"].encode()
    credentials = f"{os.environ['APP_BASIC_AUTH_USERNAME']}:{os.environ['APP_BASIC_AUTH_PASSWORD']}"
    head = HEAD % (len(template), base64.b64encode(credentials.encode()))
    return [head + template.replace(old, b"ev_%016d" % each, 1) for each in range(number)]


def measure(subject: str, webhooks: int) -> None:
    """Runs the subject. Prints, as JSON, the number of counted webhooks, and the number of calls to SQS for them."""
    sqs = FakeSqs(os.environ["APP_SQS_QUEUE_URL"])

    async def count(connect: Callable[[], asyncio.Protocol]) -> None:
        senders = Senders(connect, sqs, WARM + webhooks + 4 * USERS)
        await senders.send(WARM)
        answered, calls = senders.answered, sqs.calls
        gc.collect()
        gc.disable()  # because a garbage collection would be in some counts, but not in others
        with counting():
            await senders.send(webhooks)
        print(json.dumps({"webhooks": senders.answered - answered, "calls": sqs.calls - calls}))
        await senders.finish()
        assert subject == FLOOR or sqs.messages == senders.answered

    async def serve_until_drained(_: Server, connect: Callable[[], Connection], limits: ConnectionLimits) -> None:
        limits.close()  # ends the periodic sweeps of `limits`, which would make counts depend on the machine's speed
        await count(connect)

    async def main_loop(server: Any) -> None:  # replaces uvicorn's main loop if the subject is FLOOR
        state, app_state = server.server_state, server.lifespan.state
        protocol = server.config.http_protocol_class
        await count(partial(protocol, config=server.config, server_state=state, app_state=app_state))

    Server.serve_until_drained = serve_until_drained  # type: ignore[assignment, method-assign]
    uvicorn.Server.main_loop = main_loop  # type: ignore[assignment, method-assign]
    uvloop.Loop.create_connection = sqs.connect  # type: ignore[assignment, method-assign]
    # aiohttp calls this function before `create_connection`.
    aiohappyeyeballs.start_connection = _no_socket  # type: ignore[assignment]
    sys.argv[1:] = ["web"]
    runpy.run_module("loadtest.peers.asgi_noop" if subject == FLOOR else "app", run_name="__main__")


async def _no_socket(*_: Any, **__: Any) -> None: ...


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]))
