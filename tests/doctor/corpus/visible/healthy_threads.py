"""Endpoints with def and to_thread wait in threads, fewer than the pools have."""

import asyncio
import time

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/def", 60, 20), ("GET", "/thread", 30, 5)],
    "source": "",
}


def sync(request):
    time.sleep(0.3)
    return PlainTextResponse("ok")


async def thread(request):
    await asyncio.to_thread(time.sleep, 0.3)
    return PlainTextResponse("ok")


app = Starlette(routes=[Route("/def", sync), Route("/thread", thread)])
