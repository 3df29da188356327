"""Serves POST requests to one path by callbacks: without a scope, a task, messages and coroutines for each request.

All bounds of `protocol` apply. A request is served over ASGI as before if it has another method or path, asks for an
upgrade or for 100 Continue, waits for an earlier response (pipelining), or comes from a client that does not read.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from app.web.server.protocol import BoundedHttpToolsProtocol

_CLOSE = (b"connection", b"close")


class Exchange:
    """One request and its response. Takes the place of uvicorn's cycle, and has the attributes that uvicorn uses.

    The protocol calls the methods that a subclass has to implement. `respond` may be called at any time, once.
    """

    __slots__ = (
        *("_connection", "_parts", "body", "disconnected", "keep_alive"),
        *("more_body", "response_complete", "response_started"),
    )

    def __init__(self, connection: "CallbackProtocol", keep_alive: bool) -> None:
        self._connection: CallbackProtocol | None = connection  # until the response is complete
        self.body = b""  # complete when `body_complete` is called
        self._parts: bytearray | None = None  # the body so far, if it arrives in several parts
        self.more_body = True
        self.keep_alive = keep_alive
        self.disconnected = self.response_started = self.response_complete = False

    def head_complete(self, fields: Mapping[bytes, bytes]) -> None:
        """Decides about the request, of which no byte of the body has been kept."""
        raise NotImplementedError

    def body_incomplete(self) -> None:
        """Checks the part of the body that has arrived. Called after each read that does not complete the body."""
        raise NotImplementedError

    def body_complete(self) -> None:
        """Handles the request, whose body is complete."""
        raise NotImplementedError

    def abandoned(self) -> None:
        """Handles a disconnect of the client."""
        raise NotImplementedError

    @property
    def message_event(self) -> "Exchange":
        return self

    def set(self) -> None:
        """Stands in for uvicorn's event, which uvicorn sets after each change of the attributes."""
        if self.disconnected:
            self.abandoned()

    @property
    def received(self) -> int:
        """The number of bytes of the body that have arrived."""
        return len(self.body if self._parts is None else self._parts)

    def add(self, part: bytes) -> None:
        """Adds a part of the body. Most bodies have one part, which is not copied."""
        if self._parts is not None:
            self._parts += part
        elif self.body:
            self._parts = bytearray(self.body)
            self._parts += part
        else:
            self.body = part

    def end_body(self, *, last: bool) -> None:
        """Completes the body. `last`: the parser reads no further request, which it sometimes finds out by trailers."""
        self.more_body = False
        if last:
            self.keep_alive = False
        if self._parts is not None:
            self.body = bytes(self._parts)

    def expect_body(self, seconds: float, late: Callable[[], None]) -> None:
        """Calls `late` in `seconds`, unless the body is complete or the response written by then.

        Later calls have no effect.
        """
        if self._connection is not None:
            self._connection.expect_body(seconds, late)

    def respond(self, status: int, headers: Collection[tuple[bytes, bytes]], body: bytes) -> None:
        """Writes head and body in one call, unless the client has disconnected.

        If the connection is to be closed and the body is incomplete, the connection stays open until the body is
        complete: closing a socket with unread bytes resets it, and the client may lose the response.
        """
        connection = self._connection
        self.response_started = self.response_complete = True
        self.detach()
        if connection is None or self.disconnected:
            return
        if _CLOSE in headers:
            self.keep_alive = False
        elif not self.keep_alive:
            headers = [*headers, _CLOSE]
        connection.write_response(self, status, headers, body)

    def detach(self) -> None:
        """Frees the body, and breaks the reference cycle of connection and exchange."""
        self._connection = self._parts = None
        self.body = b""


class Door:
    """Makes the exchanges for POST requests to `path`."""

    path: bytes
    _defaults: tuple[list[tuple[bytes, bytes]] | None, bytes] = None, b""

    def default_lines(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        """Returns the lines of uvicorn's default headers. uvicorn makes a new list every second, with the new date."""
        if self._defaults[0] is not headers:
            self._defaults = headers, _lines(headers)
        return self._defaults[1]

    def exchange(self, connection: "CallbackProtocol", keep_alive: bool) -> Exchange:
        raise NotImplementedError


def _lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    return b"".join([b"%s: %s\r\n" % header for header in headers])


class CallbackProtocol(BoundedHttpToolsProtocol):
    """Passes the requests of `door` to exchanges, and all other requests to the ASGI application."""

    _exchange: Exchange | None = None  # the newest request, unless the ASGI application handles it

    def __init__(self, *, door: Door, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._door = door

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        exchange = self._exchange
        if exchange is not None and exchange.more_body and not exchange.response_complete:
            exchange.body_incomplete()

    def begin_message(self) -> None:
        """Makes no scope, because most requests need none."""
        self.url = b""
        self.headers = []

    def begin_request(self, fields: Mapping[bytes, bytes]) -> None:
        if self._is_for_the_door():
            keep_alive = self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive()
            self.cycle = self._exchange = exchange = self._door.exchange(self, keep_alive)
            self.head_complete()
            exchange.head_complete(fields)
            return
        self._exchange = None
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().begin_message()
        self.url, self.expect_100_continue = url, expects
        self.headers += headers  # the list is in the scope
        super().begin_request(fields)

    def _is_for_the_door(self) -> bool:
        return (
            self.url == self._door.path
            and self.parser.get_method() == b"POST"
            and not (self._upgrading or self.expect_100_continue or self.busy() or self.flow.write_paused)
        )

    def on_headers_complete(self) -> None:
        if self.transport.is_closing():
            self._stopped = True  # the response to an earlier request of the same segment has closed the connection
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            super().on_body(body)
            return
        self._since_body = 0
        if not exchange.response_complete:
            exchange.add(body)

    def _body_complete(self) -> None:
        exchange = self._exchange
        if exchange is None or exchange.response_complete:
            super()._body_complete()
            return
        self._since_body = 0
        self._limits.clear_body_deadline(self)
        exchange.end_body(last=not self.parser.should_keep_alive())
        exchange.body_complete()

    def expect_body(self, seconds: float, late: Callable[[], None]) -> None:
        """See `Exchange.expect_body`."""
        self._limits.set_body_deadline(self, seconds, late)

    def write_response(
        self, exchange: Exchange, status: int, headers: Collection[tuple[bytes, bytes]], body: bytes
    ) -> None:
        defaults = self._door.default_lines(self.server_state.default_headers)
        self.transport.write_response(b"%s%s%s\r\n%s" % (STATUS_LINE[status], defaults, _lines(headers), body))
        if exchange.more_body:
            self._limits.clear_body_deadline(self)
        elif not exchange.keep_alive:
            self.transport.close()
        if self.pipeline or self._half_closed or self.flow.read_paused or self.transport.is_closing():
            self.on_response_complete()
        else:  # does the same, without uvicorn's timer for the keep-alive deadline, which is in `_limits`
            self.server_state.total_requests += 1
            self.reset_deadline()
