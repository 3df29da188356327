"""Sets and clears the deadline of a connection when the state of the connection changes.

The mixin relies on uvicorn 0.54. uvicorn's HTTP protocol calls `on_response_complete` after it has written a response,
cancels its keep-alive timer in `_unset_keepalive_if_required`, and stores the newest request as `cycle`.
"""

import asyncio
from typing import Any

from app.web.server.connections import LINGER_SECONDS, ConnectionLimits, has_unread
from app.web.server.cycle import abandon, close_after, drop_body, drop_head
from app.web.server.received import SMALL_HEAD
from app.web.server.writer import Writer

# This 408 is plain text, like uvicorn's own 400. The application, which sends JSON, does not receive the request.
_TOO_SLOW = b"The head of the request was not complete in time."
_REQUEST_TIMEOUT = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
    b"connection: close\r\n\r\n%s" % (len(_TOO_SLOW), _TOO_SLOW)
)


class Deadlines:
    """A mixin for uvicorn's HTTP protocol.

    A subclass inherits Deadlines first, and implements `head_arriving` and `rest_expected`.
    """

    transport: Any
    flow: Any
    cycle: Any
    scope: Any
    headers: Any

    def __init__(self, *, limits: ConnectionLimits, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._limits, self._received = limits, limits.received
        self._head_begun = False  # at least one byte of a head has arrived
        self._between_requests = False  # the next byte begins the head of another request
        self._close_after_next = False  # the next response closes the connection
        self._half_closed = False  # the client has stopped sending

    def head_arriving(self) -> bool:
        """Returns True if a part of a head has arrived, but not all of it."""
        raise NotImplementedError

    def rest_expected(self) -> bool:
        """Returns True if the newest request has been answered and the rest of its body has not arrived."""
        raise NotImplementedError

    @property
    def silent(self) -> bool:
        """True until the connection's first head is complete."""
        return self.cycle is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self.transport = Writer(self.transport)
        self._limits.set_deadline(self, self._limits.head_timeout, self._expire)

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.remove(self)
        super().connection_lost(exc)  # type: ignore[misc]
        # If the client has reset the connection, uvicorn 0.54 does not cancel its keep-alive timer. The connection
        # would stay in memory until the timer expires.
        self._unset_keepalive_if_required()  # type: ignore[attr-defined]

    def eof_received(self) -> Any:  # the result is a bool, although uvicorn declares None
        """Returns True if a complete request still waits for its response, although the client has stopped sending.

        If the result is True, the transport keeps the connection open. It can then detect a disconnected client only by
        writing to the connection. If the result is False, the transport closes the connection.
        """
        self._half_closed = True
        if self.answer_expected():
            self._limits.add_half_closed(self)
            return True
        self.abandon_request()
        # Until this deadline, the client can read earlier responses.
        self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)
        return False

    def answer_expected(self) -> bool:
        """Returns True if a complete request of this connection waits for its response."""
        return self.busy() and not self.cycle.more_body

    def head_incomplete(self) -> None:
        """Sets the deadline for the head of the connection's next request, of which the first bytes have arrived."""
        self._head_begun, self._between_requests = True, False
        if not self.flow.write_paused:  # otherwise, the client has to read earlier responses first
            self._limits.set_deadline(self, self._limits.head_timeout, self._expire)

    def head_complete(self, last: bool = False) -> None:
        """Clears the deadline, because the application limits the time for the rest of the request.

        If `last` is True, the server closes the connection after the response.
        """
        self._between_requests = False
        if not (self.flow.write_paused or self.transport.is_closing()):
            self._limits.clear_deadline(self)
        if last or self._close_after_next:
            close_after(self.cycle)

    def on_response_complete(self) -> None:
        self.transport.flush()
        self._received.release_head(self)
        super().on_response_complete()  # type: ignore[misc]
        if self.cycle.response_complete:
            drop_body(self.cycle)
        if self._half_closed and not self.answer_expected():
            self.abandon_request()
            self.transport.close()
        self.reset_deadline()

    def busy(self) -> bool:
        """Returns True if the newest request of this connection waits for its response."""
        return self.cycle is not None and not self.cycle.response_complete

    def abandon_request(self) -> None:
        """Makes the application receive `http.disconnect` if the newest request waits for its response.

        The server can no longer send that response.
        """
        if self.busy():
            abandon(self.cycle)

    def reserves_head(self, size: int) -> bool:
        """Reserves memory for a head of which `size` bytes have arrived. A small head needs no reservation.

        Returns False for a large head if an earlier request waits for its response (pipelining), or if the large heads
        of all connections exceed MAX_HEAD_BYTES in total.
        """
        return size <= SMALL_HEAD or (not self.busy() and self._received.reserve_head(self, size))

    def reset_deadline(self) -> None:
        """Sets or clears the deadline, depending on the connection's current state."""
        if self.flow.write_paused or self.transport.is_closing() or self.rest_expected():
            self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)
        elif not self.busy():
            self.await_next()
        else:
            self._limits.clear_deadline(self)

    def await_next(self) -> None:
        """Sets the deadline for the next request of a connection without a request."""
        if self.head_arriving():
            self.head_incomplete()
            return
        self._head_begun, self._between_requests = False, True
        self.scope, self.headers = None, []  # an idle connection must not keep a large head
        drop_head(self.cycle)
        limits = self._limits
        self._received.release_head(self)
        limits.set_deadline(self, limits.keep_alive_timeout, self._expire)

    def close_if_stopping(self) -> None:
        """Closes the connection if the server is stopping and no request is arriving any more."""
        if self._close_after_next and self._between_requests:
            self.transport.close()
            self.reset_deadline()

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self.reset_deadline()

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        self.reset_deadline()
        self.close_if_stopping()

    def timeout_keep_alive_handler(self) -> None:
        """Does nothing. uvicorn's handler would close the connection even if a request has arrived but is unread."""

    def _expire(self) -> None:
        if has_unread(self):
            return  # `_expire` is called again after SWEEP_SECONDS
        if self._head_begun:
            self.transport.write(_REQUEST_TIMEOUT)
        self.transport.close()
        self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)

    def shutdown(self) -> None:
        """Closes the connection, but first answers a request that is in flight or arriving.

        uvicorn itself would not wait for a request that is arriving.
        """
        if self.busy():
            close_after(self.cycle)
        elif self._head_begun or has_unread(self):
            self._close_after_next = True
        else:
            super().shutdown()  # type: ignore[misc]
