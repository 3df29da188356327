"""Whatever bytes a server sends, a caller gets the complete answer to its own request, or an error."""

import asyncio
import http.client
import io
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import NamedTuple, cast

import pytest
import trustme
from hypothesis import assume, example, given
from hypothesis import strategies as st

from app.sqs import pool
from app.sqs.pool import Connections
from app.sqs.sqs_connection import MAX_ANSWER_BYTES, AnswerError, Connection, HttpResponse

pytestmark = pytest.mark.anyio

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"


class Request(NamedTuple):
    """Stores what has arrived. `number` counts a server's requests, `connection` its connections, from 0."""

    number: int
    connection: int
    head: bytes
    body: bytes


Answering = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """`left`: the numbers of the connections that have ended. `now`: an event for which an answer may wait."""

    def __init__(self) -> None:
        self.port = 0
        self.requests: list[Request] = []
        self.asked: asyncio.Queue[Request] = asyncio.Queue()
        self.left: asyncio.Queue[int] = asyncio.Queue()
        self.now = asyncio.Event()
        self.tasks: list[asyncio.Task[None] | None] = []  # one a connection


@asynccontextmanager
async def raw_server(
    answer: Answering, tls: ssl.SSLContext | None = None, listener: socket.socket | None = None
) -> AsyncIterator[RawServer]:
    """Starts a server that reads requests, and lets `answer` write any bytes."""
    server = RawServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(server.tasks)
        server.tasks.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                server.requests.append(Request(len(server.requests), number, head, await reader.readexactly(length)))
                server.asked.put_nowait(server.requests[-1])
                await answer(server.requests[-1], writer)
        server.left.put_nowait(number)
        writer.close()

    listener = listener or socket.create_server(("127.0.0.1", 0))
    listening = await asyncio.start_server(serve, sock=listener, ssl=tls)
    server.port = listener.getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        tasks = [task for task in server.tasks if task is not None and task.cancel()]
        await asyncio.gather(*tasks, return_exceptions=True)


def reset(writer: asyncio.StreamWriter) -> None:
    """Has the other side read "connection reset by peer"."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


def whole(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    return b"\r\n".join([b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers, b"", body])


@asynccontextmanager
async def talking(
    first: bytes, end: Callable[[asyncio.StreamWriter], None] | None = None, late: bytes = b""
) -> AsyncIterator[tuple[RawServer, Connections]]:
    """Answers the first request with `first`, then calls `end`, or writes `late` after `now`. Echoes later bodies."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(request.body) if request.number else first)
        if request.number == 0 and end is not None:
            end(writer)
        if request.number == 0 and late:
            await server.now.wait()
            writer.write(late)

    async with raw_server(answer) as server:
        connections = Connections("127.0.0.1", server.port, None, 10)
        try:
            yield server, connections
        finally:
            connections.close()


async def ask(connections: Connections, body: bytes = b"x") -> HttpResponse:
    head = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)

    async def request() -> HttpResponse:
        return await connections.request(connections.take() or await connections.connect(), head, body)

    return await asyncio.wait_for(request(), 10)


class Watched(Connection):
    """Sets `arrived` when data has arrived."""

    arrived: asyncio.Event

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.arrived.set()


async def test_a_connection_is_kept() -> None:
    """Callers that come one after the other share a connection. The names of headers are in lower case."""
    async with talking(whole(b"first", b"X-Some: Thing", status=b"418 Teapot")) as (server, connections):
        assert await ask(connections) == (418, {b"content-length": b"5", b"x-some": b"Thing"}, b"first")
        assert [(await ask(connections, b"%d" % number)).body for number in range(3)] == [b"0", b"1", b"2"]
    assert [request.connection for request in server.requests] == [0, 0, 0, 0]


async def test_callers_at_a_time_have_a_connection_each() -> None:
    """Connections are opened before, or when they are needed. Each caller gets its own answer."""
    async with talking(whole(b"x")) as (server, connections):
        await connections.open(2)
        await ask(connections)
        for _ in range(3):
            answers = await asyncio.gather(*(ask(connections, b"%d" % number) for number in range(8)))
            assert [answer.body for answer in answers] == [b"%d" % number for number in range(8)]
    assert len(server.tasks) == 8


async def test_what_has_been_opened_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the second of two connections fails, `close` still closes the first one."""
    async with talking(b"") as (server, connections):
        connecting = iter([connections.connect])

        async def one_only() -> Connection:
            if (connect := next(connecting, None)) is None:
                await server.now.wait()
                raise ConnectionRefusedError
            opened = await connect()
            server.now.set()
            return opened

        monkeypatch.setattr(connections, "connect", one_only)
        with pytest.raises(ConnectionRefusedError):
            await connections.open(2)
        connections.close()
        assert await asyncio.wait_for(server.left.get(), 10) == 0


MORE = [b"b", whole(b"b"), whole(b"b")[:9], whole(b"b")[:-1], b"HTTP/1.1 100 Continue\r\n\r\n"]
CLOSING = [whole(b"a", b"Connection: close"), whole(b"a").replace(b"1.1", b"1.0")]


@pytest.mark.parametrize("first", [*CLOSING, *(whole(b"a") + more for more in MORE)])
async def test_not_used_again_after_an_answer(first: bytes) -> None:
    """The other side closes the connection, or sends more than the answer (a Content-Length too short, two answers)."""
    async with talking(first) as (server, connections):
        assert (await ask(connections)).body == b"a"
        assert (await ask(connections, b"own")).body == b"own"
    assert [request.connection for request in server.requests] == [0, 1]


@pytest.mark.parametrize("first", [CHUNKED, b"HTTP/1.1 100 Continue\r\n\r\n" * 2 + whole(b"abcde")])
async def test_used_again_after_an_answer(first: bytes) -> None:
    """The answer is in chunks, or comes after 100 Continue."""
    async with talking(first) as (server, connections):
        assert (await ask(connections))[::2] == (200, b"abcde")
        assert (await ask(connections, b"own")).body == b"own"
    assert len(server.tasks) == 1


@pytest.mark.parametrize("sent", [whole(b"abcde", b"A: b"), CHUNKED])
async def test_split_anywhere(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer may arrive in any two parts, or byte by byte."""
    monkeypatch.setattr(pool, "Connection", Watched)
    splits = [[at] for at in range(1, len(sent))] + [list(range(1, len(sent)))]

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        split = splits[request.number]
        for begin, end in zip([0, *split], [*split, len(sent)], strict=True):
            Watched.arrived = asyncio.Event()
            writer.write(sent[begin:end])
            await Watched.arrived.wait()

    async with raw_server(answer) as server:
        connections = Connections("127.0.0.1", server.port, None, 10)
        assert {(await ask(connections)).body for _ in splits} == {b"abcde"}
        connections.close()
    assert len(server.tasks) == 1


UNTIL_END = b"HTTP/1.1 200 OK\r\n\r\nabc"


@pytest.mark.parametrize(
    ("sent", "end"),
    [
        *((sent, end) for sent in (whole(b"abcde", b"A: b"), CHUNKED) for end in (asyncio.StreamWriter.close, reset)),
        (UNTIL_END[:-3], asyncio.StreamWriter.close),  # the end of the connection may end a body, not a head
        (UNTIL_END + b"x", reset),
        (UNTIL_END.replace(b"\r\n\r", b"\r\nTransfer-Encoding: gzip\r\n\r"), asyncio.StreamWriter.close),
    ],
)
async def test_truncated_anywhere(sent: bytes, end: Callable[[asyncio.StreamWriter], None]) -> None:
    """An answer that is cut off at any byte is an error, and the next call succeeds."""
    for length in range(len(sent)):
        async with talking(sent[:length], end) as (_, connections):
            with pytest.raises(ConnectionError):
                await ask(connections)
            assert (await ask(connections, b"own")).body == b"own"


def cut(writer: asyncio.StreamWriter) -> None:
    """Ends the connection below TLS, as an attacker in between can."""
    writer.transport.abort()


LOOPS = [("asyncio", {"use_uvloop": False}), ("asyncio", {"use_uvloop": True})]


@pytest.mark.parametrize("anyio_backend", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("first", [b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 200 OK\r\nConnection: close"])
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
async def test_an_answer_without_a_length(first: bytes, secure: bool) -> None:
    """The answer ends with the connection. Over TLS, an end without close_notify is an error."""
    ca, ends = trustme.CA(), [asyncio.StreamWriter.close, cut]
    server_tls, client_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    ca.issue_cert("127.0.0.1").configure_cert(server_tls)
    ca.configure_trust(client_tls)

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(first + b"\r\n\r\n" + request.body)
        ends[request.number](writer)

    async with raw_server(answer, server_tls if secure else None) as server:
        connections = Connections("127.0.0.1", server.port, client_tls if secure else None, 10)
        assert (await ask(connections, b"own"))[::2] == (200, b"own")
        if secure:
            with pytest.raises(AnswerError):
                await ask(connections)
        connections.close()


@pytest.mark.parametrize("anyio_backend", LOOPS, ids=["asyncio", "uvloop"])
async def test_closed_before_the_request() -> None:
    """A connection that was opened, and closed again at once, ends the call instead of having it wait for an answer."""
    async with talking(b"") as (server, connections):
        connection = await connections.connect()
        connection.eof_received()
        with pytest.raises(AnswerError):
            await asyncio.wait_for(connection.request(b"", b""), 10)
        connection.abort()
    assert server.requests == []


NONSENSE = {
    "garbage": b"garbage",
    "TLS": b"\x16\x03\x01\x00",
    "a request": b"GET / HTTP/1.1\r\n\r\n",
    "two lengths": whole(b"a", b"Content-Length: 2"),
    "a length and chunks": whole(b"a", b"Transfer-Encoding: chunked"),
    "an upgrade": b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    "too long": whole(b"x" * (MAX_ANSWER_BYTES + 1)),
    "too long, announced": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (MAX_ANSWER_BYTES + 1),
    "too long, in chunks": CHUNKED[:-5] + b"1000\r\n" + b"x" * MAX_ANSWER_BYTES,
    "too long, without a length": UNTIL_END + b"x" * MAX_ANSWER_BYTES,
    "too long, an error": whole(b"x" * (MAX_ANSWER_BYTES + 1), status=b"404 Not Found"),
    "a long head": b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %0999d\r\n" % (n, n) for n in range(70)),
}


@pytest.mark.parametrize("sent", NONSENSE.values(), ids=NONSENSE)
async def test_no_answer_to_a_request(sent: bytes) -> None:
    """The call fails at once, although the other side keeps the connection open. The next call uses another one."""
    async with talking(sent) as (server, connections):
        with pytest.raises(AnswerError):
            await ask(connections)
        assert await asyncio.wait_for(server.left.get(), 10) == 0
        assert (await ask(connections, b"own")).body == b"own"


@pytest.mark.parametrize("late", [b"x", whole(b"late"), whole(b"late")[:5]])
async def test_bytes_when_nobody_has_asked(late: bytes) -> None:
    """An idle connection on which something arrives is closed."""
    async with talking(whole(b"first"), late=late) as (server, connections):
        assert (await ask(connections)).body == b"first"
        server.now.set()
        assert await asyncio.wait_for(server.left.get(), 10) == 0
        assert (await ask(connections, b"own")).body == b"own"


async def test_a_cancelled_request() -> None:
    """The connection is closed at once, and no other caller gets the answer."""
    async with talking(b"", late=whole(b"late")) as (server, connections):
        leaving = asyncio.create_task(ask(connections))
        await server.asked.get()
        leaving.cancel()
        await asyncio.wait([leaving])
        server.now.set()
        answers = await asyncio.gather(*(ask(connections, b"%d" % number) for number in range(4)))
        assert [answer.body for answer in answers] == [b"0", b"1", b"2", b"3"]
        assert await asyncio.wait_for(server.left.get(), 10) == 0
    assert leaving.cancelled()


def by_http_client(sent: bytes) -> tuple[int, bytes]:
    class Wire(io.BytesIO):
        def makefile(self, mode: str) -> io.BytesIO:
            return self

    response = http.client.HTTPResponse(cast(socket.socket, Wire(sent)))
    response.begin()
    return response.status, response.read()


@given(
    st.sampled_from([whole(b"abcde", b"A: b"), CHUNKED]),
    st.lists(st.floats(0, 1), max_size=3),
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
@example(whole(b"abcde"), [0.4], [0, 1, 0])
def test_answers_are_never_crossed(valid: bytes, cuts: list[float], order: list[int]) -> None:
    """Pieces of an answer may be missing, repeated or in another order, but no other caller reads any of them."""
    edges = [0, *sorted(round(cut * len(valid)) for cut in cuts), len(valid)]
    pieces = [valid[begin:end] for begin, end in pairwise(edges)]
    sent = b"".join(pieces[number % len(pieces)] for number in order)
    assume(sent)

    async def exchange() -> None:
        Watched.arrived = asyncio.Event()
        async with talking(sent) as (_, connections):
            first = asyncio.create_task(ask(connections))
            await Watched.arrived.wait()
            for _turn in range(20):  # of the loop: by then what has arrived is an answer, an error, or not complete
                await asyncio.sleep(0)
            first.cancel()
            for own in (b"one", b"two"):
                assert (await ask(connections, own)).body == own
            with suppress(AnswerError, asyncio.CancelledError):
                answer = await first
                if sent.count(b"Transfer-E") < 2:  # of several, http.client reads the first one only
                    assert answer[::2] == by_http_client(sent.lstrip())

    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(pool, "Connection", Watched)
        asyncio.run(exchange())
