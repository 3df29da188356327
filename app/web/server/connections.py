"""Stores the deadlines of open connections, and closes a connection whose deadline has passed.

uvicorn has a deadline only for idle kept-alive connections (https://github.com/Kludex/uvicorn/issues/157). In any other
state, a client could keep a connection open for ever. The client could send nothing, send a head slowly, continue to
send a body after the response, or never read the response.
"""

import asyncio
import fcntl
import struct
import termios
from collections import Counter
from collections.abc import Callable, Collection
from itertools import islice
from typing import Any, Protocol

from loguru import logger

from app.web.server.received import ReceivedBytes

SWEEP_SECONDS = 0.5
LOG_SECONDS = 1.0
# Seconds after a response in which the client may still send the rest of its body, or may leave the response unread.
LINGER_SECONDS = 5.0
# `make_room` checks at most this number of connections for unread bytes, in the order in which deadlines were set.
_CHECKED = 64


class ServerConnection(Protocol):
    """The part of uvicorn's protocols that `ConnectionLimits` uses."""

    transport: asyncio.Transport


class ConnectionLimits:
    """Stores deadlines, at most one for each connection and one for its body, in the order in which they were set.

    Only the event loop's thread may use it. `received`: the limits of all connections together. `connections`: all
    open connections.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        head_timeout: float,
        keep_alive_timeout: float,
        connections: Collection[Any] = (),
    ) -> None:
        self.head_timeout = head_timeout
        self.keep_alive_timeout = keep_alive_timeout
        self._loop = loop
        self._connections = connections
        self._deadlines: dict[ServerConnection, tuple[float, Callable[[], None]]] = {}
        self._body_deadlines: dict[ServerConnection, tuple[float, Callable[[], None]]] = {}
        self._half_closed: dict[ServerConnection, None] = {}
        self.received = ReceivedBytes(loop)
        self._refusals: Counter[str] = Counter()
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep)

    def set_deadline(self, connection: ServerConnection, seconds: float, expire: Callable[[], None]) -> None:
        """Replaces the connection's deadline. When `seconds` have passed, calls `expire` every SWEEP_SECONDS.

        The calls end when the deadline is cleared or replaced.
        """
        self._deadlines.pop(connection, None)
        self._deadlines[connection] = (self._loop.time() + seconds, expire)

    def clear_deadline(self, connection: ServerConnection) -> None:
        self._deadlines.pop(connection, None)

    def set_body_deadline(self, connection: ServerConnection, seconds: float, expire: Callable[[], None]) -> None:
        """Sets a deadline for the body of an admitted request, if there is none yet.

        `make_room` does not close a connection because of such a deadline.
        """
        self._body_deadlines.setdefault(connection, (self._loop.time() + seconds, expire))

    def clear_body_deadline(self, connection: ServerConnection) -> None:
        self._body_deadlines.pop(connection, None)

    def add_half_closed(self, connection: ServerConnection) -> None:
        """Stores that the client has stopped sending. The client may still wait for the response, or be gone."""
        self._half_closed[connection] = None

    def remove(self, connection: ServerConnection) -> None:
        """Removes everything that is stored about a closed connection."""
        self.clear_deadline(connection)
        self.clear_body_deadline(connection)
        self.received.release_head(connection)
        self._half_closed.pop(connection, None)

    def make_room(self) -> bool:
        """Aborts the connection whose deadline was set first or, if there is none, the oldest half-closed connection.

        A connection has a deadline, for example, while it is idle, sends a head, or leaves a response unread. The
        method skips connections with unread bytes, and ignores all deadlines after the first _CHECKED. If there is no
        half-closed connection either, aborts one that has its response but has not sent its body. Returns False if it
        finds no connection.
        """
        idle = (connection for connection in islice(self._deadlines, _CHECKED) if not has_unread(connection))
        lingering = filter(lingers, self._connections)
        connection = next(idle, None) or next(iter(self._half_closed), None) or next(lingering, None)
        if connection is None:
            return False
        connection.transport.abort()
        self.remove(connection)
        return True

    def count_refusal(self, reason: str) -> None:
        """Counts a rejected request. Logs one line per reason and second, so that clients cannot flood the log."""
        if not self._refusals:
            self._loop.call_later(LOG_SECONDS, self._log_refusals)
        self._refusals[reason] += 1

    def _log_refusals(self) -> None:
        for reason, number in self._refusals.items():
            logger.warning("{} requests refused: {}", number, reason)
        self._refusals.clear()

    def close(self) -> None:
        """Stops the periodic check of the deadlines."""
        self._sweeping.cancel()

    def _sweep(self) -> None:
        self._sweeping = self._loop.call_later(SWEEP_SECONDS, self._sweep)
        now = self._loop.time()
        for deadlines in (self._deadlines, self._body_deadlines):
            for expire in [expire for until, expire in deadlines.values() if until <= now]:
                try:
                    expire()
                except Exception:  # one connection's bug must not end the deadlines of all connections
                    logger.exception("Exception at the deadline of a connection")


def lingers(connection: Any) -> bool:
    """Returns True if the application has begun its response, and waits for the rest of the body to end it."""
    cycle = connection.cycle
    if cycle is None or connection.transport.is_closing():
        return False
    return bool(cycle.response_started and cycle.more_body and not cycle.response_complete)


def has_unread(connection: ServerConnection) -> bool:
    """Returns True if the connection's socket has bytes that the event loop has not read yet.

    If the loop was blocked, the client may have sent a complete request in time although the deadline has passed.
    """
    socket = connection.transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return False  # the socket is closed
    try:
        unread = fcntl.ioctl(socket.fileno(), termios.FIONREAD, b"\0\0\0\0")
    except OSError:
        return False
    return struct.unpack("i", unread) != (0,)
