"""Limits on open connections: deadlines for each, and bytes for all of them together.

uvicorn has a deadline only for idle kept-alive connections (https://github.com/Kludex/uvicorn/issues/157). In any other
state, a client could keep a connection open for ever: by sending nothing, by sending a head slowly, by sending the rest
of a body after the response, or by never reading the response.
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
# How long a client may continue to send, or leave the response unread, after it has been answered.
LINGER_SECONDS = 5.0
# Bytes that unauthenticated clients may make the process keep, all together: of large heads, and of what is read in one
# loop iteration. Above these bounds, only small heads and reads are accepted; a webhook's are small.
MAX_HEAD_BYTES = MAX_ITERATION_BYTES = 32 * 1024 * 1024
SMALL_HEAD, SMALL_READ = 4 * 1024, 16 * 1024
# How many of the connections that have been idle longest `make_room` checks for unread bytes.
_CHECKED = 64


class ServerConnection(Protocol):
    """The part of uvicorn's protocols that `ConnectionLimits` uses."""

    transport: asyncio.Transport


class ConnectionLimits:
    """Keeps at most one deadline per connection, oldest first. Call it on the event loop only."""

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
        """Sets the only deadline of a connection: after `seconds`, each sweep calls `expire` until it is cleared."""
        self._deadlines.pop(connection, None)
        self._deadlines[connection] = (self._loop.time() + seconds, expire)

    def clear_deadline(self, connection: ServerConnection) -> None:
        self._deadlines.pop(connection, None)

    def add_half_closed(self, connection: ServerConnection) -> None:
        """The client has closed its side. Whether it still waits for the answer or is gone cannot be known."""
        self._half_closed[connection] = None

    def remove(self, connection: ServerConnection) -> None:
        """Forgets a connection that is closed."""
        self.clear_deadline(connection)
        self.release_head(connection)
        self._half_closed.pop(connection, None)

    def make_room(self) -> bool:
        """Closes the connection that has been idle longest, else the oldest half-closed one; False if there is none."""
        idle = (connection for connection in islice(self._deadlines, _CHECKED) if not has_unread(connection))
        connection = next(idle, None) or next(iter(self._half_closed), None)
        if connection is None:
            return False
        connection.transport.abort()
        self.remove(connection)
        return True

    def count_read(self, size: int) -> bool:
        """Counts `size` bytes that were read; returns False if the caller must drop them.

        Tasks of the next loop iteration check the credentials. Until then, the process keeps everything that was read.
        """
        if self._iteration_bytes == 0:
            self._loop.call_soon(self._end_iteration)  # after the tasks of the requests that begin now
        self._iteration_bytes += size
        return self._iteration_bytes <= MAX_ITERATION_BYTES or size <= SMALL_READ

    def _end_iteration(self) -> None:
        self._iteration_bytes = 0

    def reserve_head(self, connection: ServerConnection, size: int) -> bool:
        """Counts a large head of `size` bytes so far; returns False if all large heads together are too large."""
        self.release_head(connection)
        self._large_heads[connection] = size
        self._head_bytes += size
        return self._head_bytes <= MAX_HEAD_BYTES

    def release_head(self, connection: ServerConnection) -> None:
        """Releases the bytes of the connection's head, if it was a large one."""
        self._head_bytes -= self._large_heads.pop(connection, 0)

    def count_refusal(self, reason: str) -> None:
        """Counts a malformed or too large request for the log: with a line for each, any client could flood the log."""
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
        for expire in [expire for until, expire in self._deadlines.values() if until <= now]:
            expire()
        self._sweeping = self._loop.call_later(SWEEP_SECONDS, self._sweep)


def has_unread(connection: ServerConnection) -> bool:
    """Returns whether the socket holds bytes that the event loop has not read yet.

    While the loop was blocked, a client may have sent everything long before the deadline.
    """
    socket = connection.transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return False  # closed already
    try:
        unread = fcntl.ioctl(socket.fileno(), termios.FIONREAD, b"\0\0\0\0")
    except OSError:
        return False
    return struct.unpack("i", unread) != (0,)
