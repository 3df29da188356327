"""The memory of a lost connection is released."""

import asyncio
import gc
import importlib
import socket
import struct
import weakref
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from app.web.server.connections import ConnectionLimits
from app.web.server.serve import HTTP

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@pytest.mark.anyio
async def test_a_reset_connection_is_released() -> None:
    """uvicorn 0.54 does not cancel its keep-alive timer after a reset, which kept the connection in memory."""
    loop = asyncio.get_running_loop()
    module, _, name = HTTP.partition(":")
    protocol_class: Any = getattr(importlib.import_module(module), name)
    config = uvicorn.Config(PlainTextResponse("alive"), http=protocol_class, lifespan="off", log_config=None)
    config.load()
    limits = ConnectionLimits(loop, head_timeout=60, keep_alive_timeout=60)
    made: list[weakref.ref[Any]] = []
    lost = asyncio.Event()

    class Watched(protocol_class):  # type: ignore[misc]
        def connection_lost(self, exc: Exception | None) -> None:
            assert exc is not None
            super().connection_lost(exc)
            lost.set()

    def connect() -> Any:
        protocol = Watched(limits=limits, config=config, server_state=ServerState(), app_state={}, _loop=loop)
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
        while made[0]() is not None:  # the transport's last call, and the request's task
            await asyncio.sleep(0.01)
            gc.collect()
    assert len(made) == 1
