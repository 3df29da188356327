"""Adds the limits of protocol.py to uvicorn's h11 protocol. The code relies on uvicorn 0.54 and h11 0.16."""

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.web.server import heads
from app.web.server.deadlines import Deadlines
from app.web.server.heads import HeadRefused

_Event = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


class _Checked(h11.Connection):
    """Adds checks of each complete head. h11 itself checks the Host header and the size of incomplete heads."""

    def next_event(self) -> _Event:
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            # The traceback refers to h11's stack frames, which would keep the connection and the head in memory.
            raise error.with_traceback(None) from None
        if isinstance(event, h11.Request):
            try:
                heads.check(event.method, event.target, event.http_version.decode(), event.headers)
                if heads.size(event.target, event.headers) > heads.MAX_BYTES or len(event.headers) > heads.MAX_HEADERS:
                    raise HeadRefused(heads.TOO_LARGE)
            except HeadRefused as error:
                raise h11.RemoteProtocolError(str(error)) from None
        return event


class BoundedH11Protocol(Deadlines, H11Protocol):
    """Answers 400 and closes the connection if a head is too large or ambiguous."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.conn = _Checked(h11.SERVER, heads.MAX_BYTES)

    def head_arriving(self) -> bool:
        return self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])

    def rest_expected(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete and self.conn.their_state is h11.SEND_BODY

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.MUST_CLOSE:
            return  # ignores what follows a request with `Connection: close` (RFC 9112, 9.6)
        if not self._received.count_read(len(data)):
            self.send_400_response(heads.TOO_MUCH)
            return
        self._head_begun = True
        super().data_received(data)
        if self._between_requests and not self.rest_expected() and self.conn.trailing_data[0]:
            self.head_incomplete()
        self.close_if_stopping()

    def handle_events(self) -> None:
        before = self.cycle
        lingered = self.rest_expected()
        super().handle_events()
        if self.cycle is not before:
            self.head_complete(last=self._get_upgrade() is not None)
        elif lingered and not self.rest_expected():
            self.reset_deadline()
        if self.conn.their_state is h11.IDLE and not self.reserves_head(len(self.conn.trailing_data[0])):
            self.send_400_response(heads.TOO_MUCH)

    def send_400_response(self, msg: str) -> None:
        """Answers 400. If a response has begun, only closes the connection, because h11 allows no second response."""
        self._limits.count_refusal(msg)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()
        self.abandon_request()
        self.reset_deadline()
