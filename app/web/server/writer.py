"""Writes the head of a response (status line and headers) and the first bytes of the body in one system call.

uvicorn 0.54 writes head and body one after the other, and uvloop makes a system call for each write. ASGI allows a
server to delay the head: https://asgi.readthedocs.io/en/latest/specs/www.html#response-start-send-event.
"""

import asyncio
from typing import Any

_END = b"\r\n\r\n"
_CONTINUE = b"HTTP/1.1 100"  # never delayed: the client waits for `100 Continue` before it sends the body


class Writer:
    """A transport that delays the head of a response until the next `write`, `flush` or `close`."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""
        self.abort = transport.abort
        self.is_closing = transport.is_closing
        self.write_response = transport.write  # writes a response whose head and body are complete

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/1.1 ") and data.endswith(_END) and not data.startswith(_CONTINUE):
            self._head = data
            return
        self._transport.write(data)

    def flush(self) -> None:
        """Writes the delayed head of a response without a body, for example of a response to a HEAD request."""
        if self._head:
            self._transport.write(self._head)
            self._head = b""

    def close(self) -> None:
        self.flush()
        self._transport.close()
