"""Which deadline a connection has, by its state: one mixin for uvicorn's two protocols.

Read in uvicorn 0.54: both call `on_response_complete` when an answer has been written, cancel their keep-alive timer
at the next byte, and have `cycle` for the newest request of a connection.
"""

import asyncio
from typing import Any

from app.web.server.connections import LINGER_SECONDS, SMALL_HEAD, Connections, has_unread
from app.web.server.cycle import abandon, close_after, drop_body
from app.web.server.writer import Writer

# As uvicorn's own 400: plain text, below the application.
_TOO_SLOW = b"The head of the request was not complete in time."
_REQUEST_TIMEOUT = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
    b"connection: close\r\n\r\n%s" % (len(_TOO_SLOW), _TOO_SLOW)
)


class Deadlines:
    """A base before one of uvicorn's protocols, in a class that implements `rest_expected`."""

    transport: Any
    flow: Any
    cycle: Any

    def __init__(self, *, waits: Connections, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._waits = waits
        self._heard = False  # at least one byte of a head
        self._between = False  # between two requests: the next byte begins a head
        self._last = False  # the next response closes the connection
        self._ended = False  # the client has half-closed the connection: it sends nothing more

    def rest_expected(self) -> bool:
        """Whether the newest request has been answered before its body was complete."""
        raise NotImplementedError

    @property
    def silent(self) -> bool:
        """Whether no request has arrived yet."""
        return self.cycle is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self.transport = Writer(self.transport)
        self._waits.expect(self, self._waits.head_timeout, self._expire)

    def connection_lost(self, exc: Exception | None) -> None:
        self._waits.lost(self)
        super().connection_lost(exc)  # type: ignore[misc]
        # After a reset, uvicorn 0.54 does not cancel its timer, which would hold the connection until it expires.
        self._unset_keepalive_if_required()  # type: ignore[attr-defined]

    def eof_received(self) -> Any:  # a bool: uvicorn's own declares None
        """Keeps a half-closed connection open (True) while a complete request on it waits for its answer.

        asyncio's transports close the connection otherwise. From here on, they notice only by writing that the client
        has gone.
        """
        self._ended = True
        if self.answer_expected():
            self._waits.half_closed(self)
            return True
        self.give_up()
        self._waits.expect(self, LINGER_SECONDS, self.transport.abort)  # for earlier answers that are not read
        return False

    def answer_expected(self) -> bool:
        """Whether a request that is complete has not been answered yet."""
        return self.busy() and not self.cycle.more_body

    def head_begun(self) -> None:
        """Bytes have arrived after a response, but not a whole head."""
        self._between = False
        self._waits.expect(self, self._waits.head_timeout, self._expire)

    def head_complete(self, last: bool = False) -> None:
        """From here on, the application's own deadlines apply. `last`: the response closes the connection."""
        self._between = False
        self._waits.settle(self)
        if last or self._last:
            close_after(self.cycle)

    def on_response_complete(self) -> None:
        self.transport.flush()
        super().on_response_complete()  # type: ignore[misc]
        if self.cycle.response_complete:
            drop_body(self.cycle)
        if self._ended and not self.answer_expected():
            self.give_up()
            self.transport.close()
        self.rearm()

    def busy(self) -> bool:
        """Whether a request of this connection has not been answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def give_up(self) -> None:
        """The newest request cannot be answered: writing its response would fail."""
        if self.busy():
            abandon(self.cycle)

    def holds_head(self, size: int) -> bool:
        """A head has `size` bytes so far; False where it must not be held: a large pipelined one, or too many."""
        return size <= SMALL_HEAD or (not self.busy() and self._waits.hold_head(self, size))

    def rearm(self) -> None:
        """Sets the deadline for the connection's present state."""
        if self.flow.write_paused or self.transport.is_closing() or self.rest_expected():
            self._waits.expect(self, LINGER_SECONDS, self.transport.abort)
        elif not self.busy():
            self._heard, self._between = False, True
            self._waits.drop_head(self)
            self._waits.expect(self, self._waits.keep_alive_timeout, self._expire)
        else:
            self._waits.settle(self)

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self.rearm()

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        self.rearm()

    def timeout_keep_alive_handler(self) -> None:
        """Replaces uvicorn's, which also closes a connection whose next request is unread in the socket."""

    def _expire(self) -> None:
        if has_unread(self):
            return  # the next sweep looks again
        if self._heard:
            self.transport.write(_REQUEST_TIMEOUT)
        self.transport.close()
        self._waits.expect(self, LINGER_SECONDS, self.transport.abort)

    def shutdown(self) -> None:
        """uvicorn closes idle connections at once; one that is receiving a request is answered first."""
        if not self.busy() and (self._heard or has_unread(self)):
            self._last = True
        else:
            super().shutdown()  # type: ignore[misc]
