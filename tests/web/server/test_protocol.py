"""The server releases the memory of a lost connection."""

import asyncio
import gc
import socket
import struct
import weakref
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from app.server.bridge import Bridge
from app.server.connection import Connection
from app.server.limits import ConnectionLimits, Limits

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@pytest.mark.anyio
async def test_a_reset_connection_is_released() -> None:
    """No timer and no task keeps the connection in memory."""
    loop = asyncio.get_running_loop()
    limits = ConnectionLimits(loop, Limits(60, 60, 60))
    handler = Bridge(PlainTextResponse("alive"), {})
    made: list[weakref.ref[Any]] = []
    lost = asyncio.Event()

    class Watched(Connection):
        def connection_lost(self, exc: Exception | None) -> None:
            assert exc is not None
            super().connection_lost(exc)
            lost.set()

    def connect() -> Any:
        protocol = Watched(handler, limits, set())
        made.append(weakref.ref(protocol))
        return protocol

    server = await loop.create_server(connect, "127.0.0.1", 0)
    with socket.create_connection(server.sockets[0].getsockname()) as client:
        client.setblocking(False)
        await loop.sock_sendall(client, b"GET / HTTP/1.1\r\nHost: service\r\n\r\n")
        assert (await loop.sock_recv(client, 1000)).startswith(b"HTTP/1.1 200")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    await asyncio.wait_for(lost.wait(), 60)
    server.close()
    limits.close()
    async with asyncio.timeout(60):
        while made[0]() is not None:  # until the transport's last call and the request's task have ended
            await asyncio.sleep(0.01)
            gc.collect()
    assert len(made) == 1
