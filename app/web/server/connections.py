"""Deadlines of connections: how long each may stay open without a request that the app works on.

uvicorn has one for idle kept-alive connections only (https://github.com/Kludex/uvicorn/issues/157). A connection that
never sends anything, a slow head, the rest of a body after its response, and a response that is never read would keep
it open without end.
"""

import asyncio
import fcntl
import struct
import termios
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Protocol

from loguru import logger

SWEEP_SECONDS = 0.5
LOG_SECONDS = 1.0
# How long a client may go on sending, or leave its response unread, after it has been answered.
LINGER_SECONDS = 5.0
# Bytes that unauthenticated clients may make the process hold, all together: large heads, and what is read in one loop
# iteration. Past it, only small heads and reads are accepted, which a webhook's are.
MAX_HEAD_BYTES = MAX_TURN_BYTES = 32 * 1024 * 1024
SMALL_HEAD, SMALL_READ = 4 * 1024, 16 * 1024
# How many of the longest idle connections are looked at, to close one without unread bytes.
_LOOKED_AT = 64


class Connection(Protocol):
    """What is used of uvicorn's protocols."""

    transport: asyncio.Transport


class Connections:
    """At most one deadline a connection, oldest first. Used on the event loop alone."""

    def __init__(self, loop: asyncio.AbstractEventLoop, head_timeout: float, keep_alive_timeout: float) -> None:
        self.head_timeout = head_timeout
        self.keep_alive_timeout = keep_alive_timeout
        self._loop = loop
        self._waiting: dict[Connection, tuple[float, Callable[[], None]]] = {}
        self._half_closed: dict[Connection, None] = {}
        self._large_heads: dict[Connection, int] = {}
        self._head_bytes = 0
        self._turn_bytes = 0
        self._refusals: Counter[str] = Counter()
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep)

    def expect(self, connection: Connection, seconds: float, expire: Callable[[], None]) -> None:
        """`expire` is called once `seconds` are over, unless `settle` or another `expect` comes before."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = (self._loop.time() + seconds, expire)

    def settle(self, connection: Connection) -> None:
        """The connection has no deadline any more."""
        self._waiting.pop(connection, None)

    def half_closed(self, connection: Connection) -> None:
        """The client of a connection sends nothing more, and waits for an answer or has gone: nothing tells which."""
        self._half_closed[connection] = None

    def lost(self, connection: Connection) -> None:
        """The connection is closed."""
        self.settle(connection)
        self.drop_head(connection)
        self._half_closed.pop(connection, None)

    def make_room(self) -> bool:
        """Closes the connection that has been idle longest, else the oldest half-closed one; False if there is none."""
        idle = (connection for connection in islice(self._waiting, _LOOKED_AT) if not has_unread(connection))
        connection = next(idle, None) or next(iter(self._half_closed), None)
        if connection is None:
            return False
        connection.transport.abort()
        self.lost(connection)
        return True

    def read(self, size: int) -> bool:
        """`size` bytes have been read; False where that is too much for this loop iteration and they must be dropped.

        Credentials are checked by tasks of the next iteration; until then, everything that was read is held.
        """
        if self._turn_bytes == 0:
            self._loop.call_soon(self._end_turn)  # after the tasks of the requests that begin now
        self._turn_bytes += size
        return self._turn_bytes <= MAX_TURN_BYTES or size <= SMALL_READ

    def _end_turn(self) -> None:
        self._turn_bytes = 0

    def hold_head(self, connection: Connection, size: int) -> bool:
        """A large head has `size` bytes so far; False where all of them together are too large."""
        self.drop_head(connection)
        self._large_heads[connection] = size
        self._head_bytes += size
        return self._head_bytes <= MAX_HEAD_BYTES

    def drop_head(self, connection: Connection) -> None:
        """The connection's head is not held any more."""
        self._head_bytes -= self._large_heads.pop(connection, 0)

    def refused(self, reason: str) -> None:
        """Counts a malformed or too large request for the log: a line each would let any client flood it."""
        if not self._refusals:
            self._loop.call_later(LOG_SECONDS, self._log_refusals)
        self._refusals[reason] += 1

    def _log_refusals(self) -> None:
        for reason, number in self._refusals.items():
            logger.warning("{} requests refused: {}", number, reason)
        self._refusals.clear()

    def close(self) -> None:
        """Cancels the sweeps."""
        self._sweeping.cancel()

    def _sweep(self) -> None:
        now = self._loop.time()
        for expire in [expire for until, expire in self._waiting.values() if until <= now]:
            expire()
        self._sweeping = self._loop.call_later(SWEEP_SECONDS, self._sweep)


def has_unread(connection: Connection) -> bool:
    """Whether the socket holds bytes that the event loop has not read yet.

    After the loop was blocked, a client may have sent everything long before its deadline.
    """
    socket = connection.transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return False  # closed already
    try:
        unread = fcntl.ioctl(socket.fileno(), termios.FIONREAD, b"\0\0\0\0")
    except OSError:
        return False
    return struct.unpack("i", unread) != (0,)
