"""Limits open connections: a deadline for each connection, and a number of bytes for all connections together.

uvicorn has a deadline only for idle kept-alive connections (https://github.com/Kludex/uvicorn/issues/157). In any other
state, a client could keep a connection open for ever. The client could send nothing, send a head slowly, continue to
send a body after the response, or never read the response.
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
# Time after a response for which the client may continue to send, or leave the response unread.
LINGER_SECONDS = 5.0
# Maximum bytes that the process keeps for clients before it has checked their credentials. One limit applies to all
# large heads together, the other to everything read in one loop iteration. Above a limit, the process still accepts
# small heads and small reads, because those of webhooks are small.
MAX_HEAD_BYTES = MAX_ITERATION_BYTES = 32 * 1024 * 1024
SMALL_HEAD, SMALL_READ = 4 * 1024, 16 * 1024
# `make_room` checks at most this number of connections for unread bytes, beginning with the one idle longest.
_CHECKED = 64


class ServerConnection(Protocol):
    """The part of uvicorn's protocols that `ConnectionLimits` uses."""

    transport: asyncio.Transport


class ConnectionLimits:
    """Keeps at most one deadline per connection, the one set first in front. Call all methods on the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, head_timeout: float, keep_alive_timeout: float) -> None:
        self.head_timeout = head_timeout
        self.keep_alive_timeout = keep_alive_timeout
        self._loop = loop
        self._deadlines: dict[ServerConnection, tuple[float, Callable[[], None]]] = {}
        self._half_closed: dict[ServerConnection, None] = {}
        self._large_heads: dict[ServerConnection, int] = {}
        self._head_bytes = 0
        self._iteration_bytes = 0
        self._refusals: Counter[str] = Counter()
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep)

    def set_deadline(self, connection: ServerConnection, seconds: float, expire: Callable[[], None]) -> None:
        """Replaces the deadline: after `seconds`, each sweep calls `expire` until the deadline is cleared."""
        self._deadlines.pop(connection, None)
        self._deadlines[connection] = (self._loop.time() + seconds, expire)

    def clear_deadline(self, connection: ServerConnection) -> None:
        self._deadlines.pop(connection, None)

    def add_half_closed(self, connection: ServerConnection) -> None:
        """Adds a connection whose client has stopped sending. The client may wait for the response, or be gone."""
        self._half_closed[connection] = None

    def remove(self, connection: ServerConnection) -> None:
        """Removes everything that is stored about a closed connection."""
        self.clear_deadline(connection)
        self.release_head(connection)
        self._half_closed.pop(connection, None)

    def make_room(self) -> bool:
        """Closes the connection that has been idle longest or, if none is idle, the oldest half-closed connection.

        Returns False if there is neither.
        """
        idle = (connection for connection in islice(self._deadlines, _CHECKED) if not has_unread(connection))
        connection = next(idle, None) or next(iter(self._half_closed), None)
        if connection is None:
            return False
        connection.transport.abort()
        self.remove(connection)
        return True

    def count_read(self, size: int) -> bool:
        """Counts `size` bytes that a connection has read. Returns False if the caller must drop these bytes.

        The process keeps all bytes of a loop iteration until the next iteration, whose tasks check the credentials.
        """
        if self._iteration_bytes == 0:
            self._loop.call_soon(self._end_iteration)  # with the tasks of the requests that begin now
        self._iteration_bytes += size
        return self._iteration_bytes <= MAX_ITERATION_BYTES or size <= SMALL_READ

    def _end_iteration(self) -> None:
        self._iteration_bytes = 0

    def reserve_head(self, connection: ServerConnection, size: int) -> bool:
        """Counts `size` bytes for the head of a connection. Returns False if all large heads together are too large."""
        self.release_head(connection)
        self._large_heads[connection] = size
        self._head_bytes += size
        return self._head_bytes <= MAX_HEAD_BYTES

    def release_head(self, connection: ServerConnection) -> None:
        """Releases the bytes that `reserve_head` has counted for the connection, if any."""
        self._head_bytes -= self._large_heads.pop(connection, 0)

    def count_refusal(self, reason: str) -> None:
        """Counts a refused request. Clients cannot flood the log, which gets one line per reason and second."""
        if not self._refusals:
            self._loop.call_later(LOG_SECONDS, self._log_refusals)
        self._refusals[reason] += 1

    def _log_refusals(self) -> None:
        for reason, number in self._refusals.items():
            logger.warning("{} requests refused: {}", number, reason)
        self._refusals.clear()

    def close(self) -> None:
        """Stops the sweeps."""
        self._sweeping.cancel()

    def _sweep(self) -> None:
        now = self._loop.time()
        for expire in [expire for until, expire in self._deadlines.values() if until <= now]:
            expire()
        self._sweeping = self._loop.call_later(SWEEP_SECONDS, self._sweep)


def has_unread(connection: ServerConnection) -> bool:
    """Returns whether the connection's socket has bytes that the event loop has not read yet.

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
