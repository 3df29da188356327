"""How the pool connects: which of a host's addresses it tries, and in which time."""

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import uvloop

from app.sqs import pool
from app.sqs.pool import Connections
from tests.sqs.test_sqs_connection import Request, ask, raw_server, whole

Address = tuple[str, int]
NAME = "sqs.example"


class Names:
    """Resolves NAME to the addresses in `found`, and leaves other hosts to the event loop."""

    found: list[Address]

    async def getaddrinfo(self, host: str, *arguments: Any, **options: Any) -> Any:
        if host != NAME:
            return await super().getaddrinfo(host, *arguments, **options)  # type: ignore[misc]  # the loop's
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address) for address in self.found]


class AsyncioLoop(Names, asyncio.SelectorEventLoop):  # type: ignore[misc]  # typeshed names the parameters
    pass


class UvloopLoop(Names, uvloop.Loop):  # type: ignore[misc]  # typeshed names the parameters
    pass


def run(make_loop: Callable[[], Any], test: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(test(runner.get_loop()))


@pytest.fixture
def silent() -> Iterator[Address]:
    """Provides an address that does not answer: the queue of the listening socket is full, so Linux drops SYNs."""
    with socket.create_server(("127.0.0.2", 0), backlog=0) as listener:
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield listener.getsockname()
        for one in waiting:
            one.close()


async def echo(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(whole(request.body))


@pytest.mark.parametrize("make_loop", [AsyncioLoop, UvloopLoop])
@pytest.mark.parametrize("dead", [1, 3])
def test_an_address_that_does_not_answer(make_loop: Callable[[], Any], dead: int, silent: Address) -> None:
    """The client tries the next address soon, for example if the first one is IPv6 and the network has none."""

    async def connect(loop: Names) -> None:
        async with raw_server(echo) as server:
            loop.found = [silent] * dead + [("127.0.0.1", server.port)]
            connections = Connections(NAME, server.port, None, 5)
            begun = time.monotonic()
            assert (await ask(connections)).body == b"x"
            connections.close()
            assert time.monotonic() - begun > pool.STAGGER_SECONDS * dead * 0.9  # it tried the first address

    run(make_loop, connect)


@pytest.mark.parametrize("make_loop", [AsyncioLoop, UvloopLoop])
def test_no_address_answers(make_loop: Callable[[], Any], silent: Address) -> None:
    """The connect time-out bounds all addresses together, so that another attempt has time."""

    async def connect(loop: Names) -> None:
        loop.found = [silent] * 3
        with pytest.raises(TimeoutError):
            await Connections(NAME, 80, None, 0.6).connect()

    run(make_loop, connect)


@pytest.mark.parametrize("make_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_the_addresses_of_a_name(make_loop: Callable[[], Any]) -> None:
    """A name's addresses come from the resolver. The connection sends small segments at once (TCP_NODELAY)."""

    async def connect(_: object) -> None:
        async with raw_server(echo) as server:
            connection = await Connections("localhost", server.port, None, 10).connect()
            found = connection._transport.get_extra_info("socket")
            assert found.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            connection.abort()

    run(make_loop, connect)
