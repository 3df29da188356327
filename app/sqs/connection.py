"""A kept-alive HTTP/1.1 connection: one request and its answer at a time.

It is closed, and never used again, after anything but a complete answer to its own request: a late answer cannot
reach another caller.
"""

import asyncio
import ssl
from http import HTTPStatus
from typing import NamedTuple, cast

import httptools

# Head and body together. SQS's longest answer to ten entries has some 5 kB, its longest error a few kB.
MAX_ANSWER_BYTES = 64 * 1024
_TOO_LONG = f"The answer is longer than {MAX_ANSWER_BYTES} bytes"


class AnswerError(ConnectionError):
    """What the other side sent is not one complete HTTP answer to the request."""


class Answer(NamedTuple):
    """`headers`: with names in lower case."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Connection(asyncio.Protocol):
    """One connection. Its methods on_… are what the parser calls."""

    def __init__(self) -> None:
        self._answered: asyncio.Future[Answer] | None = None
        self._headers: dict[bytes, bytes] = {}
        self._body = bytearray()
        self._received = 0
        self._until_end = False  # the answer announces no length, so the end of the connection is its end
        self.usable = True

    async def request(self, head: bytes, body: bytes) -> Answer:
        """Raises ConnectionError. Cancelled, it closes the connection."""
        if not self.usable:  # closed just after it was opened: nothing would end the wait for an answer
            raise AnswerError("The connection was closed before the request")
        self._answered = asyncio.get_running_loop().create_future()
        self._received = 0
        self._transport.write(head + body)  # together: each write is a TLS record of its own
        try:
            return await self._answered
        except BaseException:
            self.abort()
            raise
        finally:
            self._answered = None

    def abort(self) -> None:
        self.usable = False
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        self._parser = httptools.HttpResponseParser(self)  # not before, since connection_lost ends their cycle

    def connection_lost(self, exc: Exception | None) -> None:
        self.usable = False
        self._fail("The connection was closed before the answer was complete")
        # Parser and connection refer to each other. With APP_GC's thresholds, thousands of closed connections, each
        # with a TLS buffer of 256 KiB, would wait for the garbage collector.
        del self._parser

    def eof_received(self) -> None:
        self.usable = False
        if self._until_end and self._ended():
            self.on_message_complete()  # llhttp would call it at the end, but httptools does not tell llhttp

    def data_received(self, data: bytes) -> None:
        if self._answered is None:
            self.abort()  # nobody has asked
            return
        self._received += len(data)
        if self._received > MAX_ANSWER_BYTES:
            self._refuse(_TOO_LONG)
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._refuse(str(error) or type(error).__name__)

    def on_message_begin(self) -> None:
        if self._answered is None or self._answered.done():
            self.abort()  # a second answer to one request begins
        self._headers, self._body = {}, bytearray()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        length = self._headers.get(b"content-length")
        self._until_end = length is None and b"transfer-encoding" not in self._headers
        if length is not None and int(length) > MAX_ANSWER_BYTES:  # llhttp has checked that it is a number
            self._refuse(_TOO_LONG)

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._until_end = False
        status = self._parser.get_status_code()
        if status < HTTPStatus.OK:  # 100 Continue: the answer is still to come
            return
        self.usable = self.usable and self._parser.should_keep_alive()
        if self._answered is None or self._answered.done():
            self.abort()  # a second answer to one request
        else:
            self._answered.set_result(Answer(status, self._headers, bytes(self._body)))

    def _ended(self) -> bool:
        """Whether the other side has ended the connection, not an attacker in between: over TLS, it says so."""
        tls: ssl.SSLObject | None = self._transport.get_extra_info("ssl_object")
        try:
            return tls is None or not tls.read(1)
        except ssl.SSLError:  # it waits for more
            return False

    def _refuse(self, reason: str) -> None:
        self._fail(reason)
        self.abort()

    def _fail(self, reason: str) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(AnswerError(reason))
