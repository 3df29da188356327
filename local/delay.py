"""Adds latency to each call to the embedded AWS. `PUT /_delay` with a number of seconds as body sets the latency."""

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
        # Requests to paths that begin with /_ are not AWS calls. ministack, the emulator of AWS, uses such paths for
        # its own functions, such as listing a queue's messages.
        if self._seconds and scope["type"] == "http" and not scope["path"].startswith("/_"):
            await asyncio.sleep(self._seconds)
        await self._app(scope, receive, send)

    async def _change(self, scope: Any, receive: Any) -> int:
        """Sets the latency to the number in the request's body, and returns the HTTP status of the answer.

        `local.local_guard` has already rejected requests from websites.
        """
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
