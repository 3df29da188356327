"""uvicorn's h11 protocol with the same limits. Read in uvicorn 0.54 and h11 0.16."""

from typing import Any

import h11
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.web.server import heads
from app.web.server.deadlines import Deadlines
from app.web.server.heads import HeadRefused

_Event = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


class _Checked(h11.Connection):
    """h11 checks Host, and the size of an unfinished head; what it accepts besides is checked here."""

    def next_event(self) -> _Event:
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            # h11 raises it in a method of its own, so its traceback refers to it, and keeps connection and head.
            raise error.with_traceback(None) from None
        if isinstance(event, h11.Request):
            try:
                heads.check(event.method, event.target, event.http_version.decode(), event.headers)
                size = sum(len(name) + len(value) + 4 for name, value in event.headers)
                if len(event.target) + size > heads.MAX_BYTES or len(event.headers) > heads.MAX_HEADERS:
                    raise HeadRefused(heads.TOO_LARGE)
            except HeadRefused as error:
                raise h11.RemoteProtocolError(str(error)) from None
        return event


class BoundedH11Protocol(Deadlines, H11Protocol):
    """Answers 400 and closes where a head is too large or ambiguous."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.conn = _Checked(h11.SERVER, heads.MAX_BYTES)

    def rest_expected(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete and self.conn.their_state is h11.SEND_BODY

    def data_received(self, data: bytes) -> None:
        if not self._waits.read(len(data)):
            self.send_400_response(heads.TOO_MUCH)
            return
        self._heard = True
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.holds_head(len(self.conn.trailing_data[0])):
            self.send_400_response(heads.TOO_MUCH)
        elif self._between and not self.rest_expected():
            self.head_begun()

    def handle_events(self) -> None:
        before = self.cycle
        lingered = self.rest_expected()
        super().handle_events()
        if self.cycle is not before:
            asks_for_upgrade = self._get_upgrade() is not None
            if asks_for_upgrade:
                self.headers.append(CLOSE_HEADER)  # which makes uvicorn answer it, and h11 stop reading
            self.head_complete(last=asks_for_upgrade)
        elif lingered and not self.rest_expected():
            self.rearm()

    def send_400_response(self, msg: str) -> None:
        """Closes where a response has begun: h11 would raise on a second one."""
        self._waits.refused(msg)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()
        self.give_up()
        self.rearm()
