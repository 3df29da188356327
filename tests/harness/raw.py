"""Sends HTTP on a bare socket, for requests that a client library would not send."""

import base64
import select
import socket
from typing import Self

from tests.harness.service import PASSWORD, USER

BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class RawSender:
    """A connection on which a test sends a webhook piece by piece."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, timeout=60)

    def head(self, *headers: str, authorization: str = BASIC, body: bytes = b"") -> None:
        """Sends the head of the request, and `body` in the same piece."""
        lines = ["POST /webhooks/chargebee HTTP/1.1", "Host: service", f"Authorization: {authorization}", *headers]
        self.send("\r\n".join([*lines, "", ""]).encode() + body)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def half_close(self) -> None:
        """Closes the sending side of the connection. The receiving side stays open."""
        self._socket.shutdown(socket.SHUT_WR)

    def wait_until_read(self) -> None:
        """Waits for `100 Continue`, which the service sends when it begins to read the body."""
        expected = b"HTTP/1.1 100 Continue\r\n\r\n"
        assert self._exactly(len(expected)) == expected

    def is_answered(self, within: float) -> bool:
        """Returns whether bytes arrive within this number of seconds."""
        readable, _, _ = select.select([self._socket], [], [], within)
        return bool(readable)

    def answer(self) -> bytes:
        """Returns one response, or the bytes that arrive before the other side closes. Leaves later bytes unread."""
        head = self._up_to(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        return head + self._exactly(length)

    def _up_to(self, end: bytes) -> bytes:
        """Reads up to and including `end`, or until the other side closes."""
        data = b""
        while waiting := self._socket.recv(65_536, socket.MSG_PEEK):
            seen = data + waiting
            wanted = seen.index(end) + len(end) - len(data) if end in seen else len(waiting)
            data += self._exactly(wanted)
            if end in seen:
                break
        return data

    def _exactly(self, count: int) -> bytes:
        """Reads `count` bytes, or fewer if the other side closes earlier."""
        data = b""
        while len(data) < count and (more := self._socket.recv(count - len(data))):
            data += more
        return data

    def closed(self) -> bool:
        """Waits until the other side has closed."""
        return self._socket.recv(1) == b""

    def rest(self) -> bytes:
        """Returns everything until the other side closes or resets. (A close with unread bytes is a reset.)"""
        data = b""
        try:
            while more := self._socket.recv(65_536):
                data += more
        except ConnectionResetError:
            pass
        return data

    def send_until_refused(self, piece: bytes, limit: int) -> int:
        """Sends `piece` until `limit` bytes are sent, or the connection is closed. Returns the bytes sent.

        Raises TimeoutError if the other side neither reads nor closes the connection.
        """
        sent = 0
        try:
            while sent < limit:
                self._socket.sendall(piece)
                sent += len(piece)
        except TimeoutError:
            raise
        except OSError:
            pass
        return sent

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()
