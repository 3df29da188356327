"""Chooses the deadline of a connection by the connection's state, in one mixin for uvicorn's two protocols.

The mixin relies on uvicorn 0.54. Both protocols call `on_response_complete` after they have written a response, cancel
their keep-alive timer when the next byte arrives, and store the newest request of a connection as `cycle`.
"""

import asyncio
from typing import Any

from app.web.server.connections import LINGER_SECONDS, SMALL_HEAD, ConnectionLimits, has_unread
from app.web.server.cycle import abandon, close_after, drop_body
from app.web.server.writer import Writer

# The body is plain text, like uvicorn's own 400, because the application does not receive this request.
_TOO_SLOW = b"The head of the request was not complete in time."
_REQUEST_TIMEOUT = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
    b"connection: close\r\n\r\n%s" % (len(_TOO_SLOW), _TOO_SLOW)
)


class Deadlines:
    """A mixin that a subclass lists before one of uvicorn's protocols. The subclass implements `rest_expected`."""

    transport: Any
    flow: Any
    cycle: Any

    def __init__(self, *, limits: ConnectionLimits, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._limits = limits
        self._head_begun = False  # at least one byte of a head has arrived
        self._between_requests = False  # the next byte begins the head of another request
        self._close_after_next = False  # the next response closes the connection
        self._half_closed = False  # the client has stopped sending

    def rest_expected(self) -> bool:
        """Returns whether the server has answered the newest request before its body was complete."""
        raise NotImplementedError

    @property
    def silent(self) -> bool:
        """Whether the head of a first request has not arrived yet."""
        return self.cycle is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self.transport = Writer(self.transport)
        self._limits.set_deadline(self, self._limits.head_timeout, self._expire)

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.remove(self)
        super().connection_lost(exc)  # type: ignore[misc]
        # After a reset by the client, uvicorn 0.54 does not cancel its keep-alive timer. The timer would keep the
        # connection in memory until it expires.
        self._unset_keepalive_if_required()  # type: ignore[attr-defined]

    def eof_received(self) -> Any:  # returns a bool, but uvicorn declares None
        """Returns True if a complete request waits for its response; the transport then keeps the connection open.

        After True, the transport notices a client's disconnect only when it writes. After False, asyncio's transport
        closes the connection.
        """
        self._half_closed = True
        if self.answer_expected():
            self._limits.add_half_closed(self)
            return True
        self.abandon_request()
        self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)  # earlier responses may be unread
        return False

    def answer_expected(self) -> bool:
        """Returns whether a complete request of this connection waits for its response."""
        return self.busy() and not self.cycle.more_body

    def head_incomplete(self) -> None:
        """Sets the deadline for a head whose first bytes have arrived after an earlier response."""
        self._between_requests = False
        self._limits.set_deadline(self, self._limits.head_timeout, self._expire)

    def head_complete(self, last: bool = False) -> None:
        """Clears the deadline, because the application has its own deadlines for the rest of the request.

        `last`: whether to close the connection after the response.
        """
        self._between_requests = False
        self._limits.clear_deadline(self)
        if last or self._close_after_next:
            close_after(self.cycle)

    def on_response_complete(self) -> None:
        self.transport.flush()
        super().on_response_complete()  # type: ignore[misc]
        if self.cycle.response_complete:
            drop_body(self.cycle)
        if self._half_closed and not self.answer_expected():
            self.abandon_request()
            self.transport.close()
        self.reset_deadline()

    def busy(self) -> bool:
        """Returns whether the newest request of this connection waits for its response."""
        return self.cycle is not None and not self.cycle.response_complete

    def abandon_request(self) -> None:
        """Abandons the newest request if it waits for its response, because the server could not write the response."""
        if self.busy():
            abandon(self.cycle)

    def reserves_head(self, size: int) -> bool:
        """Reserves memory for a head, of which `size` bytes have arrived.

        Returns False if the head is large and an earlier request waits for its response (pipelining), or if all large
        heads together are too large.
        """
        return size <= SMALL_HEAD or (not self.busy() and self._limits.reserve_head(self, size))

    def reset_deadline(self) -> None:
        """Sets or clears the deadline, depending on the connection's current state."""
        if self.flow.write_paused or self.transport.is_closing() or self.rest_expected():
            self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)
        elif not self.busy():
            self._head_begun, self._between_requests = False, True
            self._limits.release_head(self)
            self._limits.set_deadline(self, self._limits.keep_alive_timeout, self._expire)
        else:
            self._limits.clear_deadline(self)

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self.reset_deadline()

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        self.reset_deadline()

    def timeout_keep_alive_handler(self) -> None:
        """Does nothing. uvicorn's handler would close a connection although its socket has unread bytes."""

    def _expire(self) -> None:
        if has_unread(self):
            return  # the next sweep checks again
        if self._head_begun:
            self.transport.write(_REQUEST_TIMEOUT)
        self.transport.close()
        self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)

    def shutdown(self) -> None:
        """Closes the connection. If a request is arriving, answers the request first; uvicorn itself would not."""
        if not self.busy() and (self._head_begun or has_unread(self)):
            self._close_after_next = True
        else:
            super().shutdown()  # type: ignore[misc]
