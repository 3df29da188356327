"""Compares a connection with what its client has sent and received so far."""

from enum import StrEnum
from typing import NamedTuple

import h11

from app.server import states
from app.server.limits import LINGER_SECONDS
from tests.simulation.connections.answers import Answer, read
from tests.simulation.connections.events import Event
from tests.simulation.connections.layout import Layout, Placed
from tests.simulation.connections.server import BODY_TIMEOUT, HEAD_TIMEOUT, KEEP_ALIVE_TIMEOUT, Server
from tests.simulation.steps import Violation

_EPSILON = 0.01
# After answers with these statuses, the server may leave bytes unread: it reads nothing after a malformed head (400),
# and a probe (200) should have no body.
_NEED_NOT_LINGER = (200, 400)
# These events do not change the status of an answer.
_HARMLESS = {Event.ACKNOWLEDGED, Event.STOPS_READING, Event.READS_AGAIN, Event.RECOVERED}


class State(StrEnum):
    """The states of a connection, as its client sees them. The value names what the connection waits for."""

    ENDED = "nothing any more"
    CLOSING = "the end of the connection"
    UNREAD = "a client that does not read"
    REST = "the rest of a body whose request has its answer"
    WORK = "an answer"
    BODY = "the rest of a body"
    HEAD = "the rest of a head"
    IDLE = "a request"


# The states of the server's table that a connection may have while it waits for something. While the client does not
# read, the rest of a body still arrives.
_TABLED = {
    State.ENDED: {states.State.CLOSING},
    State.CLOSING: {states.State.CLOSING},
    State.UNREAD: {states.State.UNREAD, states.State.STALLED, states.State.REST, states.State.BODY},
    State.REST: {states.State.REST},
    State.WORK: {states.State.WORK},
    State.BODY: {states.State.BODY},
    State.HEAD: {states.State.HEAD},
    State.IDLE: {states.State.IDLE},
}


class Seen(NamedTuple):
    """The state, and the answers so far: the status, and whether the answer announces the end of the connection."""

    state: State
    answers: list[tuple[int, bool]]


class Watch:
    """Watches a connection. `happened`: the events so far. `answers`: the answers that the server has written."""

    def __init__(self, server: Server, layout: Layout) -> None:
        self._server, self.layout = server, layout
        self.happened: list[Event] = []
        self.answers: list[Answer] = []
        self._written = b""
        self._answered_at = 0.0
        self._begun_at: dict[int, float] = {}  # for each request, when its first byte has arrived
        self._idle_since: float | None = None
        self._answered_before_stop: int | None = None
        self._closed = False

    def look(self) -> Seen:
        """Returns the connection's state and answers. Raises Violation if they or the deadlines are wrong."""
        server, client = self._server, self._server.client
        if server.errors:
            raise Violation(f"logged: {server.errors[0]}")
        self._reread()
        if Event.STOPS in self.happened and self._answered_before_stop is None:
            self._answered_before_stop = len(self.answers)
        for number, placed in enumerate(self.layout.placed):
            if client.received > placed.begin:
                self._begun_at.setdefault(number, server.now)
        state = self._state()
        if state is not State.IDLE:
            self._idle_since = None
        self._check(state)
        self._check_statuses()
        if state in (State.ENDED, State.CLOSING) and not self._closed:
            self._closed = True
            self._check_close()
        return Seen(state, [(answer.status, answer.closes) for answer in self.answers])

    def _reread(self) -> None:
        if self._written == (written := self._server.client.written):
            return
        self._written, before = written, self.complete
        self.answers = self.read()
        if self.complete != before:
            self._answered_at = self._server.now
            self._idle_since = None

    def read(self) -> list[Answer]:
        """Returns all answers that the client can read now. Raises Violation if an answer is malformed."""
        try:
            return list(read(self._server.client.written, self.layout.methods))
        except h11.RemoteProtocolError as error:
            raise Violation(f"the client cannot read the answer: {error}") from None

    @property
    def complete(self) -> int:
        """The number of complete answers."""
        return sum(answer.complete for answer in self.answers)

    @property
    def _current(self) -> Placed | None:
        """The first request without a complete answer."""
        return self.layout.placed[self.complete] if self.complete < len(self.layout.placed) else None

    @property
    def _answered(self) -> Placed | None:
        """The last request with a complete answer."""
        return self.layout.placed[self.complete - 1] if 0 < self.complete <= len(self.layout.placed) else None

    def _state(self) -> State:
        client = self._server.client
        if client.ended:
            return State.ENDED
        if client.is_closing():
            return State.CLOSING
        return State.UNREAD if client.writing_paused else self._open_state(client.received)

    def _open_state(self, received: int) -> State:
        current, answered = self._current, self._answered
        if answered is not None and answered.head_end <= received < answered.end:
            return State.REST
        if current is None or received <= current.begin:
            return State.IDLE
        if received < current.head_end:
            return State.HEAD
        return State.BODY if received < current.end else State.WORK

    def _tabled(self, state: State) -> states.State:
        """Returns the state in the server's table.

        Raises Violation if this state does not fit `state`, or if the server does not read although it should.
        """
        server = self._server
        tabled = server.protocol.state
        if tabled not in (_TABLED[state] if self.complete or state is not State.IDLE else {states.State.NEW}):
            raise Violation(f"while the connection waits for {state}, the table says {tabled.value}")
        reads = server.client.is_reading()
        if tabled in states.READING and tabled is not states.State.BODY and not (reads or server.protocol.held):
            raise Violation(f"while the connection waits for {state}, the server reads nothing")
        return tabled

    def _check(self, state: State) -> None:
        """Raises Violation if the deadlines do not fit the state."""
        server, tabled = self._server, self._tabled(state)
        deadline, now = server.deadline, server.now
        match state:
            case State.ENDED | State.WORK:
                wrong = deadline is not None or server.body_deadline is not None
            case State.BODY:
                wrong = (
                    deadline is not None or server.body_deadline is None or server.body_deadline > now + BODY_TIMEOUT
                )
            case State.UNREAD if tabled is states.State.BODY:
                wrong = server.body_deadline is None
            case State.CLOSING | State.UNREAD:
                wrong = deadline is None or deadline > now + LINGER_SECONDS + _EPSILON
            case State.REST:
                wrong = self._resting_wrongly()
            case State.HEAD:
                since = max(self._begun_at[self.complete], self._answered_at) if self.complete else 0.0
                # After the client has read, the server parses the bytes that waited, so the deadline may begin later.
                until = now if Event.READS_AGAIN in self.happened else since
                wrong = deadline is None or not since <= deadline - HEAD_TIMEOUT <= until
            case State.IDLE:
                wrong = self._idle_wrongly()
        if wrong:
            raise Violation(f"while the connection waits for {state}, its deadline is {deadline}")

    def _check_statuses(self) -> None:
        """Raises Violation if an answer has another status than its request should get."""
        if set(self.happened) <= _HARMLESS:
            for answer, placed in zip(self.answers, self.layout.placed, strict=False):
                if answer.status != placed.request.status:
                    raise Violation(f"the answer is {answer.status} instead of {placed.request.status}")

    def _resting_wrongly(self) -> bool:
        deadline = self._server.deadline
        if Event.READS_AGAIN in self.happened:  # the time begins when the client has read the answer
            return deadline is None or deadline > self._server.now + LINGER_SECONDS
        return deadline != self._answered_at + LINGER_SECONDS

    def _idle_wrongly(self) -> bool:
        deadline, now = self._server.deadline, self._server.now
        if not self.complete:
            return deadline != HEAD_TIMEOUT
        if Event.STOPS in self.happened:
            return True  # a stopped process must close an idle connection
        if self._idle_since is None:
            self._idle_since = now
        if Event.STOPS_READING in self.happened:
            return deadline is None or deadline - now < KEEP_ALIVE_TIMEOUT - 10
        return deadline != self._idle_since + KEEP_ALIVE_TIMEOUT

    def _check_close(self) -> None:
        """Raises Violation if the server should not have closed the connection in its present state."""
        client, answers = self._server.client, self.answers
        if client.aborted or {Event.STOPS_SENDING, Event.RESETS} & set(self.happened):
            return
        announced = bool(answers) and answers[-1].closes
        if not announced and self._begun() > len(answers):
            raise Violation("the server closes the connection although a request is arriving")
        before_stop = self._answered_before_stop is not None and len(answers) <= self._answered_before_stop
        if answers and not announced and not client.refuses and not before_stop:
            raise Violation("the server closes the connection without `Connection: close`")
        answered = self._answered
        if answered and client.received < answered.end and answers[-1].status not in _NEED_NOT_LINGER:
            raise Violation("the server closes the connection with unread bytes, which resets it")

    def _begun(self) -> int:
        """The number of requests of which the server has read a part, up to the first request with `last`."""
        found = 0
        for placed in self.layout.placed:
            found += self._server.client.received > placed.begin
            if placed.request.last:
                break
        return found
