"""Every wait for a client has a deadline, and unread bytes count as received."""

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from unittest.mock import Mock

import pytest
from loguru import logger

from app.server.limits import LINGER_SECONDS, SWEEP_SECONDS, ConnectionLimits, Limits
from app.server.states import Wait
from app.web.middleware import PATH
from loadtest.stage.queues import QueueProcess
from tests.harness.raw import BASIC, RawSender
from tests.harness.service import Service
from tests.simulation.loop import VirtualLoop
from tests.web.two_doors import Side

# Seconds, longer than a pause of a busy machine between connecting and sending.
HEAD_TIMEOUT, KEEP_ALIVE = 2.5, 12
PROBE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def service(aws: QueueProcess) -> Iterator[Service]:
    url = f"{aws.endpoint}/000000000000/deadlines"
    limits = {"head_timeout": HEAD_TIMEOUT, "keep_alive_timeout": KEEP_ALIVE}
    with Service(aws.endpoint, url, **limits) as service:
        yield service


def drip(sender: RawSender, piece: bytes) -> bytes:
    """Sends a byte of `piece` every 50 ms until the other side closes. Returns the bytes that the other side sent."""
    try:
        while True:
            for position in range(len(piece)):
                sender.send(piece[position : position + 1])
                time.sleep(0.05)  # the pace of the drip
    except OSError:
        return sender.rest()


def test_a_silent_connection_is_closed(service: Service) -> None:
    """The service closes 200 silent connections APP_HEAD_TIMEOUT after it has accepted them, without a response."""
    with ExitStack() as stack:
        for sender in [stack.enter_context(RawSender(service.address)) for _ in range(200)]:
            assert sender.rest() == b""


@pytest.mark.parametrize("head", [b"POST /webhooks/chargebee HTTP/1.1\r\nX-Y: ", b"GET /"], ids=repr)
def test_a_head_that_drips(service: Service, head: bytes) -> None:
    """A head that drips gets 408, and its connection is closed, as the first head or as a later head."""
    for before in (b"", PROBE):
        with RawSender(service.address) as sender:
            if before:
                sender.send(before)
                assert sender.answer().startswith(b"HTTP/1.1 200 ")
            output = drip(sender, head + b"y" * 10_000)
            assert output.startswith(b"HTTP/1.1 408 ") or output == b""  # a reset may overtake the answer


def test_empty_lines_that_drip(service: Service) -> None:
    """Empty lines may precede a request (RFC 9112, 2.2), but do not begin one, so they do not prevent the close."""
    with RawSender(service.address) as sender:
        sender.send(PROBE)
        sender.answer()
        assert b" 200 " not in drip(sender, b"\r\n")


def test_a_head_that_stops(service: Service) -> None:
    """A sender that stops in the middle of its head gets a readable 408."""
    with RawSender(service.address) as sender:
        sender.send(b"POST /webhooks/chargebee HTTP/1.1\r\nHost:")
        assert sender.rest().startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_a_head_that_begins_with_the_request_before(service: Service, event: bytes) -> None:
    """A late head gets 408 even if its first bytes arrive in the same read as a complete request."""
    head = f"POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\nAuthorization: {BASIC}\r\nContent-Length: {len(event)}"
    with RawSender(service.address) as sender:
        sender.send(head.encode() + b"\r\n\r\n" + event + b"GET /heal")
        sender.answer()
        assert sender.rest().startswith(b"HTTP/1.1 408 ")


@pytest.mark.slow
def test_between_two_requests(service: Service, event: bytes) -> None:
    """A connection between two requests has the longer APP_KEEP_ALIVE_TIMEOUT, and its next request is served.

    This also holds if the response is complete while the server still handles the read (an event that is ignored), or
    before the body has arrived.
    """
    ignored = json.dumps({**json.loads(event), "event_type": "customer_created"}).encode()
    head = f"POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\nAuthorization: {BASIC}\r\nContent-Length: {len(ignored)}"
    early = b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
    requests = {PROBE: b"", head.encode() + b"\r\n\r\n" + ignored: b"", early: b"late"}
    with ExitStack() as stack:
        senders = []
        for request, rest in requests.items():
            sender = stack.enter_context(RawSender(service.address))
            sender.send(request)
            assert sender.answer().split()[1] == (b"404" if rest else b"200")
            sender.send(rest)
            senders.append(sender)
        time.sleep(HEAD_TIMEOUT + 2 * SWEEP_SECONDS)  # a pause that must not close the connections
        for sender in senders:
            sender.send(PROBE)
            assert sender.answer().startswith(b"HTTP/1.1 200 ")
        assert all(sender.closed() for sender in senders)


def test_the_rest_of_a_body_that_is_answered_already(service: Service) -> None:
    """The server discards the rest of the body. A client has LINGER_SECONDS to send the rest, at any pace."""

    def lingering(method: str) -> float:
        started = time.monotonic()
        with RawSender(service.address) as sender:
            sender.send(f"{method} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n".encode())
            sender.answer()
            drip(sender, b"x" * 1000)
        return time.monotonic() - started

    methods = ["POST /nowhere", "PUT /webhooks/chargebee", "GET /healthz"]
    with ThreadPoolExecutor(len(methods)) as senders:
        assert min(senders.map(lingering, methods)) >= LINGER_SECONDS


def test_a_body_answered_early_and_read_to_its_end(service: Service) -> None:
    """If the client completes a body that was answered early, the connection serves the next request."""
    with RawSender(service.address) as sender:
        sender.send(b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n")
        assert sender.answer().startswith(b"HTTP/1.1 404 ")
        sender.send(b"late" + PROBE)
        assert sender.answer().startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("request_line", ["POST /nowhere", "GET /healthz", "PUT /webhooks/chargebee"])
def test_a_long_body_that_nobody_reads(service: Service, request_line: str) -> None:
    """The connection serves the next request, even if the whole body has arrived in the same read as its head."""
    head = f"{request_line} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
    with RawSender(service.address) as sender:
        sender.send(head.encode() + b"x" * 100_000)
        sender.answer()
        sender.send(PROBE)
        assert sender.answer().startswith(b"HTTP/1.1 200 ")


def test_a_frozen_process_closes_no_connection_with_unread_bytes(aws: QueueProcess) -> None:
    """If the process is frozen for longer than both time-outs, it answers requests that have arrived meanwhile."""
    limits = {"head_timeout": 3, "keep_alive_timeout": 3}
    with Service(aws.endpoint, f"{aws.endpoint}/000000000000/frozen", **limits) as service, ExitStack() as stack:
        kept, cut, new = (stack.enter_context(RawSender(service.address)) for _ in range(3))
        kept.send(PROBE)
        kept.answer()
        cut.send(PROBE[:10])
        service.process.send_signal(signal.SIGSTOP)
        kept.send(PROBE)
        cut.send(PROBE[10:])
        new.send(PROBE)
        time.sleep(3 + 3 * SWEEP_SECONDS)  # the freeze
        service.process.send_signal(signal.SIGCONT)
        for sender in (kept, cut, new):
            assert sender.answer().startswith(b"HTTP/1.1 200 ")


def test_a_loop_that_was_blocked_closes_nothing_at_once() -> None:
    """The first look at the deadlines after a block ends no connection, because the loop has not read yet."""
    now, expired = 0.0, []
    loop = VirtualLoop(lambda: now)
    limits = ConnectionLimits(loop, Limits(600, 600, 600))
    connection = Mock(expire=lambda: expired.append(now))
    limits.set_deadline(connection, Wait.FOR_CLIENT)
    now = LINGER_SECONDS + 2 * SWEEP_SECONDS
    loop.settle()
    assert expired == []
    now += SWEEP_SECONDS
    loop.settle()
    assert expired == [now]
    limits.close()
    loop.end()


@pytest.mark.anyio
async def test_deadlines_go_on_after_a_sender_has_left() -> None:
    """A sender half-closes its connection, and the deadline of its body passes. Later deadlines still work.

    The deadline can pass before the connection ends if the service still has bytes to write.
    """
    errors: list[str] = []
    sink = logger.add(errors.append, level="ERROR")
    with closing(Side("callbacks", body_timeout=0.1)) as served:
        left, _ = served.connect()
        left.data_received(
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: {BASIC}\r\nContent-Length: 9\r\n\r\nx".encode()
        )
        assert not left.eof_received()  # the transport would close the connection now
        served.limits._seconds[Wait.FOR_HEAD] = 3 * SWEEP_SECONDS  # so that this deadline passes after the body's
        _, silent = served.connect()
        async with asyncio.timeout(60):
            while not silent.is_closing():  # noqa: ASYNC110  # no event: a transport in memory
                await asyncio.sleep(0.01)
    logger.remove(sink)
    assert errors == []
