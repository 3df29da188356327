"""Adds latency to the embedded AWS. `PUT /_delay` changes the latency at run time; its body is the seconds."""

import asyncio
from typing import Any

PATH = "/_delay"
LONGEST = 60.0


class Delayed:
    """Waits `seconds` before each AWS call, and then passes the call on to the ASGI application `app`."""

    def __init__(self, app: Any, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == PATH:
            await _answer(send, await self._change(scope, receive))
            return
        # Paths that begin with /_ are not AWS calls. They are ministack's own, such as the list of a queue's messages.
        if self._seconds and scope["type"] == "http" and not scope["path"].startswith("/_"):
            await asyncio.sleep(self._seconds)
        await self._app(scope, receive, send)

    async def _change(self, scope: Any, receive: Any) -> int:
        """Sets the latency to the request's body, and returns the status. `local.guard` rejects websites' requests."""
        if scope["method"] != "PUT":
            return 405
        try:
            seconds = float((await receive())["body"])
        except ValueError:
            return 400
        if not 0 <= seconds <= LONGEST:
            return 400
        self._seconds = seconds
        return 204


async def _answer(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})
