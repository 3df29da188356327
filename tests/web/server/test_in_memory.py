"""Reads and states of one connection in memory, in an order that sockets do not guarantee.

Each test runs in both ways to a webhook's handler: callbacks and ASGI (`READERS`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest

from app.server.states import Wait
from tests.harness.service import READERS
from tests.web.server.test_pipelining import webhook
from tests.web.two_doors import PretendedTransport, Side, idle

Connected = tuple[Side, Any, PretendedTransport]
PROBE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(params=READERS)
async def connected(request: pytest.FixtureRequest) -> AsyncIterator[Connected]:
    """Yields a process with a connection in memory: its protocol and its transport."""
    with closing(Side(request.param)) as served:
        protocol, transport = served.connect()
        yield served, protocol, transport
        transport.close()
        await idle()


def large(size: int) -> bytes:
    """Returns a request with a header of `size` bytes."""
    return PROBE[:-2] + b"A: " + b"z" * size + b"\r\n\r\n"


@pytest.mark.anyio
async def test_a_large_head_behind_a_request(connected: Connected) -> None:
    """The size limit also applies to a head whose first bytes arrive in the same read as a complete request."""
    _, protocol, transport = connected
    protocol.data_received(PROBE + large(100_000)[:-4])
    await idle()
    assert b"connection: close" in transport.written.lower()
    assert transport.is_closing()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "reads",
    [
        (large(3_000) + large(1_500)[:-4], b"\r\n\r\n"),
        (large(40_000) + large(1_500)[:-4], b"\r\n\r\n"),
        (large(10_000)[:60], large(10_000)[60:] + PROBE[:20], PROBE[20:]),
    ],
    ids=["small", "large", "large, in two reads"],
)
async def test_a_small_head_behind_another_one(connected: Connected, reads: tuple[bytes, ...]) -> None:
    """The limits do not count the complete request before the head, which arrives in the same read or earlier."""
    served, protocol, transport = connected
    for read in reads[:-1]:
        protocol.data_received(read)
    await idle()
    assert served.limits.received._large_bytes == 0
    protocol.data_received(reads[-1])
    await idle()
    assert transport.written.count(b"HTTP/1.1 200 ") == 2


@pytest.mark.anyio
async def test_an_idle_connection_keeps_no_head(connected: Connected) -> None:
    """An idle connection keeps no head, because thousands of heads would exceed the limit of all heads together."""
    _, protocol, transport = connected
    protocol.data_received(large(40_000))
    await idle()
    assert transport.written.startswith(b"HTTP/1.1 200 ")
    assert (protocol._parser.target, protocol._parser.headers, protocol._request) == (b"", [], None)


@pytest.mark.anyio
async def test_a_stop_while_the_sender_does_not_read(connected: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    """During a stop, the server closes the connection when its sender has read the response, without a last request."""
    _, protocol, transport = connected
    write = transport.write

    def write_and_pause(data: bytes) -> None:
        write(data)
        protocol.pause_writing()

    monkeypatch.setattr(transport, "write", write_and_pause)
    protocol.data_received(PROBE)
    await idle()
    protocol.shutdown()
    assert transport.is_closing()  # a real transport would first send the written bytes


@pytest.mark.anyio
@pytest.mark.parametrize("connection", ["close", "Close", "TE, close", "Upgrade\r\nUpgrade: h2c"], ids=repr)
async def test_the_last_request_gets_a_404_before_its_body(connected: Connected, connection: str) -> None:
    """The server reads the rest of the body before it closes, because closing with unread bytes sends a reset."""
    _, protocol, transport = connected
    head = f"POST /no HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\nContent-Length: 9\r\n\r\n"
    protocol.data_received(head.encode())
    await idle()
    assert (b" 404 " in transport.written, transport.is_closing()) == (True, False)
    protocol.data_received(b"x" * 9)
    await idle()
    assert transport.is_closing()


@pytest.mark.anyio
@pytest.mark.parametrize("whole", [False, True], ids=["a part before the stop", "the head before the stop"])
async def test_a_404_before_its_body_during_a_stop(connected: Connected, whole: bool) -> None:
    """The server sends `Connection: close` with the 404, and then reads the rest of the body."""
    _, protocol, transport = connected
    head = b"POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
    protocol.data_received(head if whole else head[:20])
    protocol.shutdown()
    if not whole:
        protocol.data_received(head[20:])
    await idle()
    assert (b" 404 " in transport.written, b"connection: close" in transport.written.lower()) == (True, True)
    assert not transport.is_closing()
    protocol.data_received(b"x" * 9)
    await idle()
    assert transport.is_closing()


@pytest.mark.anyio
async def test_a_request_behind_an_answered_body_during_a_stop(connected: Connected) -> None:
    """The 404 before the stop announced no close, so the server must answer the request behind the rest of the body."""
    _, protocol, transport = connected
    protocol.data_received(b"POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
    await idle()
    assert b"connection: close" not in transport.written.lower()
    protocol.shutdown()
    protocol.data_received(b"x" * 9 + PROBE[:20])
    assert not transport.is_closing()
    protocol.data_received(PROBE[20:])
    await idle()
    assert (b" 200 " in transport.written, b"connection: close" in transport.written.lower()) == (True, True)
    assert transport.is_closing()


@pytest.mark.anyio
async def test_a_request_in_the_kernel_during_a_stop(connected: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that has arrived behind the rest of a body, and is not read yet, keeps the connection open."""
    _, protocol, transport = connected
    protocol.data_received(b"POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
    await idle()
    protocol.shutdown()
    monkeypatch.setattr("app.server.connection.has_unread", lambda connection: True)
    protocol.data_received(b"x" * 9)
    assert not transport.is_closing()
    monkeypatch.undo()
    protocol.data_received(PROBE)
    await idle()
    assert (b" 200 " in transport.written, transport.is_closing()) == (True, True)


@pytest.mark.anyio
async def test_what_is_stored_is_no_idle_connection(connected: Connected) -> None:
    """A connection that has answered, and stores the next request, is not closed to make room for another client."""
    served, protocol, _ = connected
    protocol.held = PROBE
    assert not served.limits.make_room()
    protocol.held = b""
    assert served.limits.make_room()


@pytest.mark.anyio
async def test_what_is_refused_is_not_stored(
    connected: Connected, event: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes behind a request are dropped above the limit of all clients, and do not count any more."""
    served, protocol, transport = connected
    monkeypatch.setattr("app.server.received.MAX_HEAD_BYTES", 10_000)
    protocol.data_received(webhook(event) + large(12_000))
    await idle()
    assert (served.limits.received._large_bytes, protocol.held) == (0, b"")
    served.queue.settle(None)
    await idle()
    assert (transport.written.count(b"HTTP/1.1 "), transport.is_closing()) == (1, True)


@pytest.mark.anyio
async def test_a_request_of_a_sender_that_does_not_read(connected: Connected) -> None:
    """A further request does not remove the deadline until which the sender must read the earlier responses."""
    served, protocol, transport = connected
    served.limits._seconds[Wait.FOR_CLIENT] = 0.1
    protocol.data_received(PROBE)
    await idle()
    protocol.pause_writing()
    protocol.data_received(PROBE)
    async with asyncio.timeout(60):
        while not transport.is_closing():  # noqa: ASYNC110  # no event: a transport in memory
            await asyncio.sleep(0.01)
