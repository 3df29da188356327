"""Serves one connection. The table in `states` gives the next state for each state and event."""

import asyncio

from loguru import logger

from app.server import heads, responses
from app.server.heads import HeadRefused
from app.server.limits import ConnectionLimits, has_unread
from app.server.parser import UNKNOWN, RequestParser
from app.server.received import SMALL_HEAD
from app.server.request import Exchange, Handler, Lost, Request
from app.server.states import READING, TABLE, WAITS, Event, State, Wait

_TOO_SLOW = "The head of the request was not complete in time."
# These names save time, because each access to a member of an enumeration is slow.
NEW, IDLE, HEAD, BODY, REST, WORK, STALLED, UNREAD, CLOSING = State
HEAD_BEGINS, HEAD_ENDS, BODY_ENDS, ANSWERED, LAST, FULL, DRAINED, ENDS = Event
_BETWEEN_REQUESTS = (NEW, IDLE, UNREAD)


class Connection(asyncio.Protocol):
    """Serves one client. `state`: see `states`. `connections`: the set of all open connections.

    `held`: bytes that arrived after a request that has no answer yet (pipelining). `full`: True if the client does not
    read and the transport's buffer is full.
    """

    transport: asyncio.Transport

    def __init__(self, handler: Handler, limits: ConnectionLimits, connections: "set[Connection]") -> None:
        self.state = NEW
        self._handler, self._limits, self._connections = handler, limits, connections
        self._parser = RequestParser()
        self._wait: Wait | None = None  # the kind of wait for which `_limits` stores a deadline, if any
        self.held = b""
        self._stopping = False  # True after `shutdown`: an answer that begins later is the last one
        self._half_closed = False  # True if the client has stopped sending
        self.full = False
        self._request: Request | None = None
        self._exchange: Exchange | None = None  # handles the request, until the request is answered

    @property
    def goes_on(self) -> bool:
        """True if the connection may serve another request after the next answer."""
        return not (self._stopping or self._half_closed)

    # Methods that asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # uvloop's transports are no asyncio.Transport
        self._connections.add(self)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._limits.remove(self)
        self._move(ENDS)
        self._lose()
        self.held = b""
        self._parser.close()

    def data_received(self, data: bytes) -> None:
        if self.state is CLOSING:
            return
        if not self._limits.received.count_read(len(data)):
            self._refuse(heads.TOO_MUCH)
        else:
            self._read(data)
        self._set_deadline()

    def eof_received(self) -> bool:
        """Returns True if a complete request waits for its answer. Otherwise, closes the connection.

        If the result is True, the transport stays open for writing, and only a failed write can show the server that
        the client has disconnected. `held` is empty here: while `held` has bytes, the transport does not read.
        """
        self._half_closed = True
        if self.state in (WORK, STALLED):
            self._limits.add_half_closed(self)
            return True
        self._end()
        return False  # the transport still sends earlier writes, at most until the deadline of CLOSING

    def pause_writing(self) -> None:
        self.full = True
        self._move(FULL)
        self._set_deadline()

    def resume_writing(self) -> None:
        self.full = False
        self._move(DRAINED)
        if self.state is IDLE:
            self._go_on()
        elif self._exchange is not None and self._request is not None and self._request.begun:
            self._exchange.proceed()
        self._set_deadline()

    # Methods that `ConnectionLimits` and the server call.

    def expire(self) -> None:
        """Closes the connection, because its deadline has passed. If a body is late, the handler may answer instead.

        Does nothing if awaited bytes have arrived but are not parsed yet, for example after the process was suspended.
        """
        waits_for_bytes = self.state in READING and self.state is not REST
        unread = waits_for_bytes and self.transport.is_reading() and has_unread(self)
        if unread or (self.state is IDLE and self.held):
            return  # `ConnectionLimits` will call this method again
        if self.state is BODY and self._exchange is not None:
            self._lose(Lost.LATE)
        elif self.state is HEAD:
            self.transport.write(responses.plain(408, _TOO_SLOW))
            self._end()
        elif waits_for_bytes:
            self._end()
        else:
            self.transport.abort()
        self._set_deadline()

    def shutdown(self) -> None:
        """Closes the connection, but first answers a request that is in flight or arriving."""
        self._stopping = True
        self._end_between_requests()

    def stop_waiting(self) -> None:
        """Asks the handler to end the request in flight, if any, because the server no longer waits for it."""
        self._lose(Lost.STOPPED)

    # A method that a request calls.

    def answered(self) -> None:
        """Changes to the next state, because the answer to the request is complete."""
        self._exchange = None
        if self.state is BODY:
            self._move(ANSWERED)
            self.transport.resume_reading()
        else:
            self._over(ANSWERED)
        self._set_deadline()

    # Methods that parse what the client sends.

    def _read(self, data: bytes) -> None:
        """Parses `data` until a request has to wait for its answer, and stores the rest."""
        try:
            while data and self.state in READING:
                data = self._read_head(data) if self._request is None else self._read_body(data, self._request)
                if self._parser.left == 0 and self._request is not None:
                    self._body_is_complete(self._request)
        except HeadRefused as refused:
            self._refuse(str(refused))
            return
        if data:
            self._hold(data)
        if self.state is BODY and self._exchange is not None:
            self._exchange.proceed()
        elif self._stopping:
            self._end_between_requests()

    def _read_head(self, data: bytes) -> bytes:
        """Parses `data`, at most to the end of the head, and returns the rest. Passes a complete head to the handler.

        Raises HeadRefused if the head is malformed, or if all large heads together would take too much memory.
        """
        if self.state is not HEAD:
            data = self._parser.skip_empty_lines(data)
            if not data:
                return data
            self.state = TABLE[self.state, HEAD_BEGINS]
        parser = self._parser
        length = parser.cut(data)
        parser.feed(data[:length])
        if parser.size > SMALL_HEAD and not self._limits.received.reserve(self, parser.size):
            raise HeadRefused(heads.TOO_MUCH)
        if parser.complete:
            request = self._request = Request(self, parser)
            self.state = TABLE[self.state, HEAD_ENDS]
            scope = request.scope  # noqa: F841  # the event loop's watchdog reads it
            exchange = self._handler(request)
            if not request.answered:
                self._exchange = exchange
        return data[length:]

    def _read_body(self, data: bytes, request: Request) -> bytes:
        """Parses `data`, at most to the end of the request, and returns the rest."""
        parser = self._parser
        length = parser.cut(data) if parser.left == UNKNOWN else parser.left
        parser.feed(data[:length])
        request.add(parser.body, parser.left == 0)
        return data[length:]

    def _body_is_complete(self, request: Request) -> None:
        if self._parser.last:
            request.close_after()
        if self.state is REST:
            self._over(BODY_ENDS)
        elif self.state is BODY:
            self.state = TABLE[self.state, BODY_ENDS]
            if self.full:
                self._move(FULL)
            scope = request.scope  # noqa: F841  # for the watchdog
            if self._exchange is not None:
                self._exchange.proceed()

    # Methods that change the state, store bytes, or close the connection.

    def _end_between_requests(self) -> None:
        """Closes the connection, unless a request is in flight or arriving, or there are stored or unread bytes."""
        waiting = self.state in _BETWEEN_REQUESTS
        if waiting and not self.held and not has_unread(self):
            self._end()

    def _move(self, event: Event) -> None:
        self.state = TABLE[self.state, event]

    def _over(self, event: Event) -> None:
        """Closes the connection after its last request. After any other request, waits for the next one."""
        request = self._request
        # After an early answer (BODY_ENDS), `_read` may have bytes of another request, so a stop does not close yet.
        stops = self._stopping and event is not BODY_ENDS and not has_unread(self)
        last = request is None or not request.keep_alive or self._half_closed or (stops and not self.held)
        self.state = TABLE[self.state, LAST if last else event]
        if self._limits.received.large:
            self._limits.received.reserve(self, len(self.held))  # not the head, because `begin` below frees it
        if self._wait is not None:  # the next wait gets a new deadline, even if it is of the same kind
            self._wait = None
            self._limits.set_deadline(self, None)
        self._parser.begin()
        self._request = None
        if last:
            self.held = b""
            self.transport.close()
        elif self.full:
            self._move(FULL)
        else:
            self._go_on()

    def _hold(self, data: bytes) -> None:
        """Stores `data` until `_read_held` parses it, and stops reading. Drops `data` after the last request."""
        request = self._request
        if self.state is CLOSING or (request is not None and not request.keep_alive):
            return
        self.held += data
        self.transport.pause_reading()
        if not self._limits.received.reserve(self, self._parser.size + len(self.held)):
            self._refuse(heads.TOO_MUCH)

    def _go_on(self) -> None:
        """Parses the stored bytes in the next iteration of the event loop, so that other clients get a turn."""
        if self.held:
            self._limits.loop.call_soon(self._read_held)

    def _read_held(self) -> None:
        if self.state is not IDLE or not self.held:
            return
        data, self.held = self.held, b""
        self._limits.received.release(self)
        self.transport.resume_reading()
        try:
            self._read(data)
        except Exception:  # asyncio does the same after an exception in `data_received`
            logger.exception("Exception in a connection")
            self.transport.abort()
            return
        self._set_deadline()

    def _refuse(self, reason: str) -> None:
        """Answers 400, unless an answer has begun, and closes the connection.

        If a complete request still waits for its answer, sends no 400: the connection closes after that answer.
        """
        self._limits.count_refusal(reason)
        request = self._request
        if self.state in (WORK, STALLED) and request is not None:
            request.close_after()
            self.held = b""
            self._limits.received.reserve(self, self._parser.size)
            self.transport.resume_reading()  # receives (and drops) further bytes, because unread bytes cause a reset
            return
        if request is None or not (request.begun or request.answered):
            self.transport.write(responses.plain(400, reason))
        self._end()

    def _lose(self, lost: Lost = Lost.GONE) -> None:
        """Reports `lost` to the handler, if any. After LATE, aborts the connection unless the answer is complete."""
        exchange, request = self._exchange, self._request
        if exchange is None or request is None:
            return
        if lost is Lost.GONE:
            self._exchange = None
            request.detach()
        exchange.lose(lost)
        if lost is Lost.LATE and not request.answered:
            self.transport.abort()

    def _end(self) -> None:
        """Closes the connection. The transport still sends what was written before."""
        self._move(ENDS)
        self._lose()
        self.held = b""
        self.transport.close()
        self._set_deadline()

    def _set_deadline(self) -> None:
        wait = WAITS[self.state]
        if wait is not self._wait:
            self._wait = wait
            self._limits.set_deadline(self, wait)
