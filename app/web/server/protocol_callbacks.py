"""Serves POST requests to one path by callbacks: without a scope, a task, messages and coroutines for each request.

All bounds of `protocol` apply. A request is served over ASGI as before if it has another method, path or query, asks
for an upgrade or for 100 Continue, waits for an earlier response (pipelining), or comes from a client that does not
read.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from app.web.server.exchange import Door, Exchange, lines
from app.web.server.protocol import BoundedHttpToolsProtocol


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
            keep_alive = self._version != "1.0" and self.parser.should_keep_alive()
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
            and self._method == b"POST"
            and not (self._upgrading or self.expect_100_continue or self.busy() or self.flow.write_paused)
        )

    def on_body(self, body: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            super().on_body(body)
            return
        self._since_body = 0
        self._complete += len(body)
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

    def abandon_request(self) -> None:
        self._limits.clear_body_deadline(self)  # the connection may last longer than its request
        super().abandon_request()

    def expect_body(self, seconds: float, late: Callable[[], None]) -> None:
        """See `Exchange.expect_body`."""
        self._limits.set_body_deadline(self, seconds, late)

    def write_response(
        self, exchange: Exchange, status: int, headers: Collection[tuple[bytes, bytes]], body: bytes
    ) -> None:
        defaults = self._door.default_lines(self.server_state.default_headers)
        self.transport.write_response(b"%s%s%s\r\n%s" % (STATUS_LINE[status], defaults, lines(headers), body))
        if exchange.more_body:
            self._limits.clear_body_deadline(self)
        elif not exchange.keep_alive:
            self.transport.close()
        flow = self.flow
        if self.pipeline or self._half_closed or flow.read_paused or flow.write_paused or self.transport.is_closing():
            self.on_response_complete()
            return
        # These lines replace `on_response_complete`. They need no timer, because `_limits` has the keep-alive deadline.
        self.server_state.total_requests += 1
        if not self._in_body:  # a part of the next head has arrived, so `await_next` releases nothing
            self._received.release_head(self)
        if exchange.more_body:
            self.reset_deadline()
        else:
            self.await_next()
