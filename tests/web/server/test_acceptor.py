"""The server accepts the whole backlog of connections, up to a bound, and continues when file descriptors run out."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import cast

import httpx
import psutil
import pytest
import uvloop

from app import open_files
from app.errors import ConfigurationError
from app.server.acceptor import Acceptor
from app.server.limits import LINGER_SECONDS, ConnectionLimits, Limits
from app.server.states import Wait
from app.settings import WebSettings
from app.web.serve import max_connections
from loadtest.stage.queues import QueueProcess
from tests.harness.raw import RawSender
from tests.harness.service import NO_CAS, Service, Web, environment

CONNECTIONS = 20
# Deadlines that are longer than a test, so that they do not close a silent connection.
PATIENT = {"head_timeout": 300, "body_timeout": 300}


def probe(service: Web) -> int:
    """Returns the status of /healthz on a new connection."""
    return httpx.get(f"{service.url}/healthz", verify=NO_CAS, timeout=20).status_code


@pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def test_how_many_are_accepted_in_each_iteration(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Three iterations of the loop accept the whole backlog."""
    connected: list[asyncio.BaseTransport] = []

    class Counted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            connected.append(transport)

    async def iterations() -> int:
        listening = socket.create_server(("127.0.0.1", 0), backlog=CONNECTIONS)
        limits = ConnectionLimits(asyncio.get_running_loop(), Limits(10, 10, 10))
        acceptor = Acceptor(listening, Counted, limits, lambda: len(connected), bound=None)
        clients = [socket.create_connection(listening.getsockname()) for _ in range(CONNECTIONS)]
        acceptor.start()
        number = 0
        while len(connected) + len(acceptor.connecting) < CONNECTIONS:
            await asyncio.sleep(0)
            number += 1
        acceptor.close()
        limits.close()
        for client in clients:
            client.close()
        for transport in connected:
            transport.close()
        return number

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(iterations()) <= 3


@pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def test_the_last_one_of_the_bound_takes_no_place(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """When the bound is reached, the server closes an idle connection only if a further connection waits."""
    idle: list[asyncio.Transport] = []

    async def at_the_bound() -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        limits = ConnectionLimits(asyncio.get_running_loop(), Limits(600, 600, 600))

        class Idle(asyncio.Protocol):
            held = b""

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                self.transport = cast("asyncio.Transport", transport)
                idle.append(self.transport)
                limits.set_deadline(self, Wait.FOR_REQUEST)

            def expire(self) -> None: ...

        acceptor = Acceptor(listening, Idle, limits, lambda: len(idle), bound=2)
        acceptor.start()
        with ExitStack() as stack:
            stack.callback(limits.close)
            stack.callback(acceptor.close)
            for number in (1, 2):
                stack.enter_context(socket.create_connection(listening.getsockname()))
                while len(idle) < number or acceptor.connecting:  # noqa: ASYNC110  # takes only a few iterations of the loop
                    await asyncio.sleep(0)
            closing = [one.is_closing() for one in idle]
            for one in idle:
                one.abort()
        assert closing == [False, False]

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(at_the_bound())


def test_the_bound_on_connections(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """Above the bound, a new connection replaces the connection that is idle longest. A request in flight continues."""
    with Service(aws.endpoint, queue_url, max_connections=20, **PATIENT) as service, ExitStack() as stack:
        busy = stack.enter_context(RawSender(service.address))
        busy.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        busy.wait_until_read()
        silent = [stack.enter_context(RawSender(service.address)) for _ in range(40)]
        assert service.post(event).status_code == 200
        assert probe(service) == 200
        assert service.connections() <= 20
        assert silent[0].closed()
        busy.send(event)
        assert busy.answer().startswith(b"HTTP/1.1 200 ")


def test_the_bound_without_idle_connections(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """If no connection is idle, new connections wait until a request has been answered. The log reports this once."""
    with Service(aws.endpoint, queue_url, max_connections=2, body_timeout=60) as service, ExitStack() as stack:
        senders = [stack.enter_context(RawSender(service.address)) for _ in range(2)]
        for sender in senders:
            sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue", "Connection: close")
            sender.wait_until_read()
        with socket.create_connection(service.address, timeout=20) as waiting:
            waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            service.wait_for("Accepting is paused: 2 connections are open, and none of them is idle")
            senders[0].send(event)
            assert waiting.recv(13) == b"HTTP/1.1 200 "
        assert sum("Accepting is paused" in line["message"] for line in service.lines) == 1


def test_answered_senders_do_not_block_new_connections(aws: QueueProcess, queue_url: str) -> None:
    """Senders without credentials that do not send their bodies do not block new connections for LINGER_SECONDS."""
    with (
        Service(aws.endpoint, queue_url, max_connections=20) as service,
        ExitStack() as stack,
    ):
        for _ in range(20):
            sender = stack.enter_context(RawSender(service.address))
            sender.head("Content-Length: 9", "Expect: 100-continue", authorization="Basic bm86bm8=")
            assert sender.answer().startswith(b"HTTP/1.1 401 ")
        started = time.monotonic()
        assert probe(service) == 200
        assert time.monotonic() - started < LINGER_SECONDS / 2


def test_few_descriptors(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """Idle connections do not block new connections in a process with 256 file descriptors."""
    with Web(environment(aws.endpoint, queue_url, **PATIENT), open_files=256) as service, ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(RawSender(service.address))
        assert probe(service) == 200
        assert service.post(event).status_code == 200


@pytest.mark.parametrize(
    ("files", "settings", "needed"), [(100, {}, 196), (195, {}, 196), (195, {"sqs_max_connections": 100}, 232)]
)
def test_too_few_descriptors(files: int, settings: dict[str, object], needed: int) -> None:
    """The process prints one line and exits with code 2, instead of serving one connection at a time."""
    command = ["bash", "-c", f'ulimit -n {files} && exec "$@"', "bash", sys.executable, "-m", "app", "web"]
    given = environment("http://127.0.0.1:9", "http://127.0.0.1:9/000000000000/invoices", **settings)
    ended = subprocess.run(command, env=given, capture_output=True, encoding="utf-8", check=False, timeout=60)
    error = f"error: ulimit -n {files}: allowed are {needed} or more open files"
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert ended.stderr.startswith(error)


@pytest.mark.parametrize("wanted", [1, 31])
def test_few_descriptors_for_few_connections(monkeypatch: pytest.MonkeyPatch, wanted: int) -> None:
    """A smaller APP_MAX_CONNECTIONS needs fewer file descriptors."""
    monkeypatch.setattr(open_files, "raise_limit", lambda: 164 + wanted)
    assert max_connections(WebSettings(max_connections=wanted)) == wanted
    monkeypatch.setattr(open_files, "raise_limit", lambda: 163 + wanted)
    with pytest.raises(ConfigurationError, match=f"allowed are {164 + wanted}"):
        max_connections(WebSettings(max_connections=wanted))


@pytest.mark.slow
def test_no_descriptors(aws: QueueProcess, queue_url: str) -> None:
    """When file descriptors run out, the log reports this once a minute, and the service continues."""
    with Service(aws.endpoint, queue_url, max_connections=0, **PATIENT) as service, ExitStack() as stack:
        psutil.Process(service.process.pid).rlimit(psutil.RLIMIT_NOFILE, (64, 64))
        silent = [stack.enter_context(RawSender(service.address)) for _ in range(100)]
        service.wait_for("Accepting is paused: accept failed")
        assert probe(service) == 200
        assert silent[0].closed()
        assert sum("Accepting is paused" in line["message"] for line in service.lines) == 1
