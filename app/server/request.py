"""Defines the request that a handler gets, and the interface that a handler implements."""

import asyncio
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Protocol
from urllib.parse import unquote

import httptools

from app.server import responses
from app.server.heads import Headers, HeadRefused
from app.server.parser import RequestParser


class Client(Protocol):
    """The part of a connection that requests and handlers may use.

    `goes_on`: the connection may serve another request after the next answer. `full`: the client does not read,
    and the transport's buffer is full.
    """

    transport: asyncio.Transport
    full: bool

    @property
    def goes_on(self) -> bool: ...

    def answered(self) -> None: ...


class Lost(Enum):
    """Names the reasons for which the server ends a request before the answer is complete."""

    GONE = "the client has disconnected or stopped sending, or the rest of the body is malformed"
    LATE = "the body was not complete in time"
    STOPPED = "the server stops, and no longer waits for requests in flight"


class Exchange(Protocol):
    """The handling of one request. After the answer is complete, the server no longer calls these methods."""

    def proceed(self) -> None:
        """Handles a further part of the body. `Request.complete` is True after the last part.

        While an answer is being written, the server also calls this method when the transport's buffer is no longer
        full.
        """

    def lose(self, lost: Lost) -> None:
        """Ends the request. If `lost` is LATE, the server aborts the connection unless this call answers.

        If `lost` is STOPPED, the handler may also answer later.
        """


# A function that begins to handle a request when the head is complete, before the server parses any byte of the body.
# It returns None if it has already answered the request.
Handler = Callable[["Request"], Exchange | None]


class Request:
    """One request: its head, the part of its body that has arrived, and methods that write the answer.

    `path`: the target's path, decoded, without the query. `scope`: method and path, as in an ASGI scope. `fields`: the
    header values by lower-case name. `complete`: the whole body has arrived. `begun`: the first byte of the answer has
    been written. `answered`: the last byte has been written. `keep_alive`: the connection stays open after the answer.
    """

    __slots__ = (
        *("_expects", "_parts", "answered", "begun", "complete", "connection", "fields", "headers", "keep_alive"),
        *("method", "path", "received", "scope", "target", "version"),
    )

    def __init__(self, connection: Client, head: RequestParser) -> None:
        self.method, self.target, self.version, self.headers = head.method, head.target, head.version, head.headers
        fields = self.fields = head.fields
        self.path = _path(self.target)
        self.scope = {"method": self.method, "path": self.path}
        self.keep_alive = not head.last
        # HTTP/1.0 has no `100 Continue` (RFC 9110, 10.1.1).
        self._expects = b"expect" in fields and self.version == "1.1" and b"100-continue" in fields[b"expect"].lower()
        self.connection: Client | None = connection  # None after the answer, or after the client has disconnected
        self.complete = head.left == 0
        self.begun = self.answered = False
        self.received = 0  # bytes of the body that have arrived
        self._parts: list[bytes] = []

    def take_body(self) -> bytes:
        """Returns the part of the request's body that has arrived since the last call of this method."""
        parts, self._parts = self._parts, []
        return b"".join(parts)

    def want_body(self) -> None:
        """Sends `100 Continue` to a client that waits for it."""
        if self._expects and self.connection is not None:
            self._expects = False
            self.connection.transport.write(responses.CONTINUE)

    def close_after(self) -> None:
        """Makes this request the connection's last one."""
        self.keep_alive = False

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Writes a complete answer, unless the client has disconnected."""
        self.begin(status, headers, body)
        self.end()

    def begin(self, status: int, headers: Headers, body: bytes) -> None:
        """Writes the answer's head and the first part of the answer's body.

        If `headers` has no Content-Length, call `close_after` first: closing the connection then ends the body.
        """
        self.begun = True
        if (connection := self.connection) is None:
            return
        if responses.CLOSE in headers:
            self.keep_alive = False
        elif not (self.keep_alive and connection.goes_on):
            self.keep_alive = False
            headers = [*headers, responses.CLOSE]
        head = responses.head(status, headers)
        connection.transport.write(head if self.method == "HEAD" else head + body)

    def write(self, part: bytes) -> None:
        """Writes a further part of the answer's body."""
        if self.connection is not None and self.method != "HEAD":
            self.connection.transport.write(part)

    def end(self) -> None:
        """Completes the answer. The connection then changes to its next state."""
        connection = self.connection
        self.answered = True
        self.detach()
        if connection is not None:
            connection.answered()

    def add(self, parts: list[bytes], complete: bool) -> None:
        """Adds parts of the request's body, or discards them if the request has been answered. Empties `parts`."""
        for part in parts:
            self.received += len(part)
        if not self.answered:
            self._parts += parts
        parts.clear()
        self.complete = complete

    def detach(self) -> None:
        """Frees the body, and breaks the reference cycle of connection and request."""
        self.connection = None
        self._parts = []


@lru_cache(maxsize=64)
def _path(target: bytes) -> str:
    """Returns the decoded path of `target`. Raises HeadRefused if `target` is neither a path nor an http URL."""
    try:
        path = httptools.parse_url(target).path.decode("ascii")
    except (httptools.HttpParserInvalidURLError, UnicodeDecodeError, AttributeError):
        raise HeadRefused("The request's target is neither a path nor a URL.") from None
    return unquote(path)
