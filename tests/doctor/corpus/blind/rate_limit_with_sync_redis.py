"""A rate limit in a middleware asks a Redis-like server over a blocking connection.

After open-webui/open-webui#29973 (fix: stop sign-in from blocking the event loop on Redis).
"""

import os
import socket
from typing import Any

from litestar import Litestar, get
from litestar.types import ASGIApp, Receive, Scope, Send

CASE = {
    "framework": "litestar",
    "kind": "waits",
    "route": "GET /items/{item_id:int}",
    "cures": ["async client", "thread"],
    "send": [("GET", "/items/3", 4, 2)],
    "source": "https://github.com/open-webui/open-webui/pull/29973",
}


class Counter:
    """A client of the server that counts requests, with one connection."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.file: Any = None

    def increment(self, key: str) -> bytes:
        if self.file is None:
            host, port = self.address.rsplit(":", 1)
            self.file = socket.create_connection((host, int(port))).makefile("rwb")
        self.file.write(f"INCR {key}\r\n".encode())
        self.file.flush()
        return self.file.readline()  # FAULT


counter = Counter(os.environ.get("CASE_TCP", "127.0.0.1:1"))


def rate_limit(app: ASGIApp) -> ASGIApp:
    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            client = scope.get("client") or ("unknown", 0)
            counter.increment(client[0])
        await app(scope, receive, send)

    return limited


@get("/items/{item_id:int}")
async def item(item_id: int) -> dict[str, int]:
    return {"id": item_id}


app = Litestar([item], middleware=[rate_limit])
