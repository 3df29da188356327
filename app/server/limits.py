"""Stores the deadlines of open connections, and closes a connection whose deadline has passed.

uvicorn has a deadline only for idle kept-alive connections (https://github.com/Kludex/uvicorn/issues/157). Under
uvicorn, a client can keep a connection open for ever if it sends nothing, sends a head slowly, continues to send a body
after the response, or never reads the response.
"""

import asyncio
import fcntl
import struct
import termios
from collections import Counter
from itertools import islice
from typing import NamedTuple, Protocol

from loguru import logger

from app.server.received import ReceivedBytes
from app.server.states import Wait

SWEEP_SECONDS = 0.5
LOG_SECONDS = 1.0
# Seconds in which the client must send the rest of the body after an early response, or read the response.
LINGER_SECONDS = 5.0
# `make_room` checks at most this number of connections for unread bytes, in the order in which deadlines were set.
_CHECKED = 64


class Limits(NamedTuple):
    """Maximum seconds for a head, for a body, and between two requests on a connection.

    `connections`: the maximum number of open connections, or None for no limit.
    """

    head_timeout: float
    body_timeout: float
    keep_alive_timeout: float
    connections: int | None = None


class Limited(Protocol):
    """The part of `Connection` that `ConnectionLimits` uses."""

    transport: asyncio.Transport
    held: bytes

    def expire(self) -> None: ...


class ConnectionLimits:
    """Stores the deadline of each connection, in the order in which the deadlines were set.

    Only the event loop's thread may use this object. `received`: the limits on the bytes of all connections together.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: Limits) -> None:
        self._seconds = {
            Wait.FOR_HEAD: limits.head_timeout,
            Wait.FOR_REQUEST: limits.keep_alive_timeout,
            Wait.FOR_BODY: limits.body_timeout,
            Wait.FOR_CLIENT: LINGER_SECONDS,
        }
        self.loop = loop
        self._deadlines: dict[Limited, float] = {}
        self._body_deadlines: dict[Limited, float] = {}  # deadlines for bodies; `make_room` skips these connections
        self._half_closed: dict[Limited, None] = {}
        self.received = ReceivedBytes(loop)
        self._refusals: Counter[str] = Counter()
        self._skipped = False
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep)

    def set_deadline(self, connection: Limited, wait: Wait | None) -> None:
        """Replaces the connection's deadline by one for `wait`, or removes the deadline if `wait` is None.

        After the deadline, `_sweep` calls `Connection.expire` every SWEEP_SECONDS, until this method replaces or
        removes the deadline.
        """
        self._deadlines.pop(connection, None)
        if self._body_deadlines:
            self._body_deadlines.pop(connection, None)
        if wait is not None:
            deadlines = self._body_deadlines if wait is Wait.FOR_BODY else self._deadlines
            deadlines[connection] = self.loop.time() + self._seconds[wait]

    def add_half_closed(self, connection: Limited) -> None:
        """Stores that the client has stopped sending. The client may wait for the response or have disconnected."""
        self._half_closed[connection] = None

    def remove(self, connection: Limited) -> None:
        """Removes everything that is stored about a closed connection."""
        self.set_deadline(connection, None)
        self.received.release(connection)
        self._half_closed.pop(connection, None)

    def make_room(self) -> bool:
        """Aborts a connection, so that another one can be accepted. Returns False if it finds none to abort.

        Chooses the connection whose deadline was set first, but skips connections that have unread or stored bytes, or
        whose body is arriving. If it skips all of the first _CHECKED connections, it chooses the connection whose
        client was the first to stop sending.
        """
        first = islice(self._deadlines, _CHECKED)
        idle = (connection for connection in first if not (connection.held or has_unread(connection)))
        connection = next(idle, None) or next(iter(self._half_closed), None)
        if connection is None:
            return False
        connection.transport.abort()
        self.remove(connection)
        return True

    def count_refusal(self, reason: str) -> None:
        """Counts a rejected request. Logs one line per reason and second, so that clients cannot flood the log."""
        if not self._refusals:
            self.loop.call_later(LOG_SECONDS, self._log_refusals)
        self._refusals[reason] += 1

    def _log_refusals(self) -> None:
        for reason, number in self._refusals.items():
            logger.warning("{} requests refused: {}", number, reason)
        self._refusals.clear()

    def close(self) -> None:
        """Stops the periodic check of the deadlines."""
        self._sweeping.cancel()

    def _sweep(self) -> None:
        """Expires the connections whose deadlines have passed.

        If the loop was blocked, skips one sweep, so that the loop can first read the bytes that arrived meanwhile.
        """
        now = self.loop.time()
        late = now - self._sweeping.when() > SWEEP_SECONDS
        self._skipped = late and not self._skipped
        self._sweeping = self.loop.call_later(SWEEP_SECONDS, self._sweep)
        if self._skipped:
            return
        for deadlines in (self._deadlines, self._body_deadlines):
            for connection in [connection for connection, until in deadlines.items() if until <= now]:
                try:
                    connection.expire()
                except Exception:  # otherwise, the sweep of the other connections would stop
                    logger.exception("Exception at the deadline of a connection")


def has_unread(connection: Limited) -> bool:
    """Returns True if the connection's socket has bytes that the event loop has not read yet.

    If the loop was blocked, such bytes may have arrived in time, so the server checks for them before it closes a
    connection that is late or idle.
    """
    socket = connection.transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return False  # the socket is closed
    try:
        unread = fcntl.ioctl(socket.fileno(), termios.FIONREAD, b"\0\0\0\0")
    except OSError:
        return False
    return struct.unpack("i", unread) != (0,)
