"""Implements a kept-alive HTTP/1.1 connection, which carries one request and its response at a time.

If a request ends without its complete response, the connection closes, so that a late response cannot reach another
caller.
"""

import asyncio
import ssl
from http import HTTPStatus
from typing import NamedTuple, cast

import httptools

# Maximum size of a response, including its head. SQS's longest response to a batch of ten messages has about 5 kB, and
# its longest error response has a few kB.
MAX_ANSWER_BYTES = 64 * 1024
_TOO_LONG = f"The response is longer than {MAX_ANSWER_BYTES} bytes"


class AnswerError(ConnectionError):
    """The server sent something other than one complete HTTP response to the request."""


class HttpResponse(NamedTuple):
    """A response. The names in `headers` are in lower case."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Connection(asyncio.Protocol):
    """A connection to a server. httptools' parser calls the methods whose names begin with `on_`."""

    def __init__(self) -> None:
        self._answered: asyncio.Future[HttpResponse] | None = None
        self._headers: dict[bytes, bytes] = {}
        self._body = bytearray()
        self._received = 0
        self._until_end = False  # True if the response declares no length, and so ends when the connection ends
        self.usable = True

    async def request(self, head: bytes, body: bytes) -> HttpResponse:
        """Sends a request and returns its response. Raises ConnectionError if no complete response arrives."""
        if not self.usable:  # on a closed connection, the caller would wait for the response for ever
            raise AnswerError("The connection was closed before the request")
        self._answered = asyncio.get_running_loop().create_future()
        self._received = 0
        self._transport.write(head + body)  # one call, because each `write` makes a TLS record
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
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit asyncio.Transport
        self._parser = httptools.HttpResponseParser(self)  # connection_lost breaks this reference cycle

    def connection_lost(self, exc: Exception | None) -> None:
        self.usable = False
        self._fail("The connection was closed before the response was complete")
        # Parser and connection refer to each other. Without this `del`, thousands of closed connections, each with a
        # TLS buffer of 256 KiB, would wait for the garbage collector, which runs rarely (`tune_gc`).
        del self._parser

    def eof_received(self) -> None:
        self.usable = False
        if self._until_end and self._ended():
            self.on_message_complete()  # httptools does not pass the end of the connection to its parser

    def data_received(self, data: bytes) -> None:
        if self._answered is None:
            self.abort()  # these bytes belong to no request
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
            self.abort()  # the server begins a second response to the same request
        self._headers, self._body = {}, bytearray()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        length = self._headers.get(b"content-length")
        self._until_end = length is None and b"transfer-encoding" not in self._headers
        if length is not None and int(length) > MAX_ANSWER_BYTES:  # llhttp accepts only digits, so `int` cannot fail
            self._refuse(_TOO_LONG)

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._until_end = False
        status = self._parser.get_status_code()
        if status < HTTPStatus.OK:  # for example 100 Continue, after which the final response follows
            return
        self.usable = self.usable and self._parser.should_keep_alive()
        if self._answered is None or self._answered.done():
            self.abort()  # the server has sent a second response to the same request
        else:
            self._answered.set_result(HttpResponse(status, self._headers, bytes(self._body)))

    def _ended(self) -> bool:
        """Returns True if the server itself, and not an attacker on the network, has ended the connection.

        Over TLS, only the server can send the message close_notify. Without TLS, the result is always True.
        """
        tls: ssl.SSLObject | None = self._transport.get_extra_info("ssl_object")
        try:
            return tls is None or not tls.read(1)
        except ssl.SSLError:  # the server has not sent close_notify
            return False

    def _refuse(self, reason: str) -> None:
        self._fail(reason)
        self.abort()

    def _fail(self, reason: str) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(AnswerError(reason))
