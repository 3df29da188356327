"""Rejects encoded bodies, and limits the size of a body and the time until the body is complete.

FastAPI's own limit, `max_body_size`, would answer in text/plain, and would do so before authentication.
"""

import asyncio
from collections.abc import Mapping

from starlette.types import Message, Receive

from app.errors import BodyTimeout, BodyTooLarge, UnsupportedEncoding, WebhookRefused
from app.settings import WebSettings
from app.web.gate.admission import Permit


def declared_length(fields: Mapping[bytes, bytes], max_bytes: int) -> int:
    """Returns the Content-Length in bytes, or 0 if the request has none.

    Raises UnsupportedEncoding for a Content-Encoding other than identity, and BodyTooLarge above `max_bytes`.
    """
    encoding = fields.get(b"content-encoding")
    if encoding and encoding.strip().lower() != b"identity":
        shown = encoding[:40].decode("latin-1")
        raise UnsupportedEncoding(f"Content-Encoding {shown!r} is not supported; send the body unencoded")
    declared = int(fields.get(b"content-length", 0))
    if declared > max_bytes:
        raise BodyTooLarge(f"The body is longer than {max_bytes} bytes")
    return declared


class Arriving:
    """Counts the bytes of one webhook's body, and reserves them with the webhook's permit. No method awaits."""

    __slots__ = ("_limits", "_permit", "_size")

    def __init__(self, permit: Permit, limits: WebSettings) -> None:
        self._permit = permit
        self._limits = limits
        self._size = 0

    def add(self, size: int, *, more: bool) -> None:
        """Counts `size` bytes. `more`: whether the body is incomplete. Raises BodyTooLarge or Overloaded."""
        self._size += size
        if self._size > self._limits.max_body_bytes:
            raise BodyTooLarge(f"The body is longer than {self._limits.max_body_bytes} bytes", unread=more)
        self._permit.reserve(self._size)
        if not more:
            self._permit.body_complete()

    def too_late(self) -> BodyTimeout:
        """Returns the error for a body that is not complete after APP_BODY_TIMEOUT."""
        return BodyTimeout(f"The body was not complete within {self._limits.body_timeout:g} seconds")


class Body:
    """Receives the body of one webhook as ASGI messages, and enforces the limits on it."""

    def __init__(self, receive: Receive, permit: Permit, limits: WebSettings) -> None:
        self._receive = receive
        self._arriving = Arriving(permit, limits)
        self._deadline = asyncio.get_running_loop().time() + limits.body_timeout
        self._unlimited = False  # becomes True when the body is complete or rejected

    async def receive(self) -> Message:
        """Returns the next ASGI message. Raises BodyTimeout, BodyTooLarge or Overloaded.

        After such an error, later calls enforce no limits. They only receive the rest of the body.
        """
        if self._unlimited:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
            more = message.get("more_body", False)
            if message["type"] == "http.request":
                self._arriving.add(len(message.get("body", b"")), more=more)
        except TimeoutError:
            self._unlimited = True
            raise self._arriving.too_late() from None
        except WebhookRefused:
            self._unlimited = True
            raise
        self._unlimited = not more
        return message
