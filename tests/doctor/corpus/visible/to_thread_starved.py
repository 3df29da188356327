"""Sixty calls at once need threads of the default executor, each for a second."""

import asyncio
import time

CASE = {
    "framework": "asgi",
    "kind": "starves",
    "route": "GET /a",
    "cures": ["more threads", "async client"],
    "send": [("GET", "/a", 60, 60)],
    "source": "",
}


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    await asyncio.to_thread(time.sleep, 1)  # FAULT
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
