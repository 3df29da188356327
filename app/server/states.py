"""The states of a connection: what it waits for, for how long, and which state follows each event.

Theory of operation. A connection is in one state at a time, and a state is what the server waits for: bytes from the
client (NEW, IDLE, HEAD, BODY, REST), the handler (WORK), space in the socket's buffer (STALLED, UNREAD), or the end of
the connection (CLOSING). `Connection` translates what happens into an `Event`, asks TABLE for the next state, and acts.
TABLE has no entry for what cannot happen: if the lookup raises KeyError, the server has a bug.

Every request passes HEAD and BODY. A request without a body passes BODY in the same read. The connection parses bytes
only in the five states of `READING`. In the other states, the connection stores the bytes that arrive and stops
reading, so it stores the bytes of at most one read. It parses the stored bytes when the answer is complete, so
pipelined requests are handled one after the other. After its last request, the connection drops further bytes.

A request may be answered before its body is complete, for example with 401 or 413. The server then discards the rest of
the body (REST), because closing a socket that has unread bytes resets the connection, and the client may lose the
answer. If the connection closes after an answer, the event is LAST instead of ANSWERED. The connection closes if the
request demands it, if the server is stopping, or if the client has stopped sending.

WAITS gives every state except WORK a wait, which sets the deadline of the state: see `Wait`. WORK has no deadline,
because a handler limits its own time. If the next state of the same request has the same wait, the deadline stays: NEW
and HEAD share one deadline for the first head. After the deadline, the server calls `Connection.expire`.

TABLE does not show all rules. `eof_received`, `expire`, `shutdown` and `_refuse` of `Connection`, and `run.is_silent`,
depend on the state as well: check them if you add a state. To make room for a new connection, the server may close one
that has a deadline, except in BODY, or one whose client has stopped sending. Reading pauses while bytes are stored, and
while a handler leaves a body unread. A handler may answer within the call that passes it the head or a part of the
body. A deadline for WORK would need a status other than 408, because 408 means that a head or a body is late.

To change the server, change TABLE first. `python -m tests.simulation.connections` then searches every order of a
limited number of segments and events, and compares each state and each deadline with what the client has sent and read.
"""

from enum import StrEnum, auto


class State(StrEnum):
    """Names what a connection waits for."""

    NEW = "its first request"
    IDLE = "another request"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"
    REST = "the rest of a body whose request has its answer"
    WORK = "an answer"
    STALLED = "a client that does not read an answer whose end is still missing"
    UNREAD = "a client that does not read"
    CLOSING = "the end of the connection"


class Event(StrEnum):
    """Names what happens to a connection."""

    HEAD_BEGINS = auto()
    HEAD_ENDS = auto()
    BODY_ENDS = auto()
    ANSWERED = auto()
    LAST = auto()  # replaces ANSWERED (in REST: BODY_ENDS) for the last request of the connection
    FULL = auto()  # the client does not read, and the transport's buffer is full
    DRAINED = auto()  # the client reads again
    ENDS = auto()  # the server closes the connection, or the client has closed it


class Wait(StrEnum):
    """Names the time limits of states. `ConnectionLimits` knows the number of seconds of each limit."""

    FOR_HEAD = auto()
    FOR_REQUEST = auto()
    FOR_BODY = auto()
    FOR_CLIENT = auto()


READING = frozenset({State.NEW, State.IDLE, State.HEAD, State.BODY, State.REST})

TABLE: dict[tuple[State, Event], State] = {
    (State.NEW, Event.HEAD_BEGINS): State.HEAD,
    (State.IDLE, Event.HEAD_BEGINS): State.HEAD,
    (State.HEAD, Event.HEAD_ENDS): State.BODY,
    (State.BODY, Event.BODY_ENDS): State.WORK,
    (State.BODY, Event.ANSWERED): State.REST,
    (State.REST, Event.BODY_ENDS): State.IDLE,
    (State.REST, Event.LAST): State.CLOSING,
    (State.WORK, Event.ANSWERED): State.IDLE,
    (State.WORK, Event.LAST): State.CLOSING,
    (State.STALLED, Event.ANSWERED): State.UNREAD,
    (State.STALLED, Event.LAST): State.CLOSING,
    # In most states, it does not matter whether the client reads.
    **{(state, Event.FULL): state for state in State},
    (State.WORK, Event.FULL): State.STALLED,
    (State.IDLE, Event.FULL): State.UNREAD,
    **{(state, Event.DRAINED): state for state in State},
    (State.STALLED, Event.DRAINED): State.WORK,
    (State.UNREAD, Event.DRAINED): State.IDLE,
    **{(state, Event.ENDS): State.CLOSING for state in State},
}

WAITS: dict[State, Wait | None] = {
    State.NEW: Wait.FOR_HEAD,
    State.IDLE: Wait.FOR_REQUEST,
    State.HEAD: Wait.FOR_HEAD,
    State.BODY: Wait.FOR_BODY,
    State.REST: Wait.FOR_CLIENT,
    State.WORK: None,
    State.STALLED: Wait.FOR_CLIENT,
    State.UNREAD: Wait.FOR_CLIENT,
    State.CLOSING: Wait.FOR_CLIENT,
}
