"""A logging handler sends each record over a socket and waits for the acknowledgement on the event loop.

After python/cpython#65046 (asyncio docs should call out that network logging is a no-no).
"""

import logging
import os
import socket
from typing import Any

CASE = {
    "framework": "asgi",
    "kind": "waits",
    "route": "GET /orders/{}",
    "cures": ["thread", "async client"],
    "send": [("GET", "/orders/7", 4, 2)],
    "source": "https://github.com/python/cpython/issues/65046",
}


class CollectorHandler(logging.Handler):
    """Sends records to a log collector that acknowledges every line."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.connection: socket.socket | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.connection is None:
            host, port = self.address.rsplit(":", 1)
            self.connection = socket.create_connection((host, int(port)))
        self.connection.sendall(self.format(record).encode() + b"\r\n")
        self.connection.recv(64)  # FAULT


log = logging.getLogger("orders")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(CollectorHandler(os.environ.get("CASE_TCP", "127.0.0.1:1")))


async def orders(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"order"})


class AccessLog:
    """Logs every request before the application handles it."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            log.info("%s %s", scope["method"], scope["path"])
            await self.inner(scope, receive, send)
        elif scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})


app = AccessLog(orders)
