"""Limits on the body: encoding, size and time, enforced while it is received.

FastAPI's own `max_body_size` answers text/plain and comes before the 401; see the HTTP contract.
"""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import BodyTimeout, BodyTooLarge, UnsupportedEncoding, WebhookRefused
from app.settings import Settings
from app.web.gate.admission import Place


class LimitBody:
    """Gives the app a `receive` that enforces the limits, and counts the body at `place`."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._max_bytes = settings.max_body_bytes
        self._timeout = settings.body_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send, place: Place) -> None:
        declared = 0
        encodings = []
        for name, value in scope["headers"]:
            if name == b"content-length":
                declared = int(value)
            elif name == b"content-encoding":
                encodings.append(value.decode("latin-1"))
        encoding = ", ".join(encodings)
        if encoding and encoding.strip().lower() != "identity":
            raise UnsupportedEncoding(f"Content-Encoding {encoding[:40]!r} is not supported: send the body without one")
        if declared > self._max_bytes:
            raise BodyTooLarge(f"The body is longer than {self._max_bytes} bytes")
        place.hold(declared)
        await self._app(scope, _Body(receive, place, self._max_bytes, self._timeout).receive, send)


class _Body:
    """A body being received."""

    def __init__(self, receive: Receive, place: Place, max_bytes: int, timeout: float) -> None:
        self._receive = receive
        self._place = place
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._deadline = asyncio.get_running_loop().time() + timeout
        self._received = 0
        self._settled = False  # complete or rejected: from here on, no limit applies

    async def receive(self) -> Message:
        """ASGI's receive. Raises BodyTimeout, BodyTooLarge or Overloaded, once."""
        if self._settled:
            return await self._receive()
        try:
            message = await self._limited()
        except WebhookRefused:
            self._settled = True
            raise
        self._settled = not message.get("more_body", False)
        if self._settled and message["type"] == "http.request":
            self._place.complete()
        return message

    async def _limited(self) -> Message:
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise BodyTimeout(f"The body was not complete within {self._timeout:g} seconds") from None
        self._received += len(message.get("body", b""))
        if self._received > self._max_bytes:
            unread = message.get("more_body", False)
            raise BodyTooLarge(f"The body is longer than {self._max_bytes} bytes", unread=unread)
        self._place.hold(self._received)
        return message
