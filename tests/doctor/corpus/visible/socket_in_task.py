"""A task that the handler starts talks to a server over a blocking socket."""

import asyncio
import os
import socket

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "waits",
    "route": "GET /ping",
    "cures": ["async client", "thread"],
    "send": [("GET", "/ping", 3, 1)],
    "source": "",
}


async def ask():
    host, port = os.environ["CASE_TCP"].split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(100)  # FAULT


async def ping(request):
    answer = await asyncio.create_task(ask())
    return PlainTextResponse(answer)


app = Starlette(routes=[Route("/ping", ping)])
