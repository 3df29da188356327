"""Limits the bytes that the process stores for all clients before it has checked their credentials."""

import asyncio

# One limit applies to all large heads together, the other to all bytes read in one iteration of the event loop. Above a
# limit, the process still accepts heads of SMALL_HEAD bytes and reads of SMALL_READ bytes: most webhooks need no more.
MAX_HEAD_BYTES = MAX_ITERATION_BYTES = 32 * 1024 * 1024
SMALL_HEAD, SMALL_READ = 4 * 1024, 16 * 1024


class ReceivedBytes:
    """Counts the bytes of large heads, and of all reads of an iteration. Only the event loop's thread may use it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.large: dict[object, int] = {}
        self._large_bytes = 0
        self._iteration_bytes = 0

    def count_read(self, size: int) -> bool:
        """Counts `size` bytes that the server has read from a client. Returns False if the caller must discard them.

        The caller must do so if one iteration of the event loop has read more than MAX_ITERATION_BYTES, except for a
        read of at most SMALL_READ bytes. The tasks that check the credentials run only in the next iteration, so all
        bytes that are kept until then need memory.
        """
        if self._iteration_bytes == 0:
            self._loop.call_soon(self._end_iteration)  # runs in the next iteration, like the tasks
        self._iteration_bytes += size
        return self._iteration_bytes <= MAX_ITERATION_BYTES or size <= SMALL_READ

    def _end_iteration(self) -> None:
        self._iteration_bytes = 0

    def reserve(self, connection: object, size: int) -> bool:
        """Counts `size` bytes that `connection` stores: a part of a head, or bytes after a request (pipelining).

        Up to SMALL_HEAD bytes need no reservation. Returns False if the reservations of all connections exceed
        MAX_HEAD_BYTES in total.
        """
        if self.large:
            self.release(connection)
        if size <= SMALL_HEAD:
            return True
        self.large[connection] = size
        self._large_bytes += size
        return self._large_bytes <= MAX_HEAD_BYTES

    def release(self, connection: object) -> None:
        """Releases the bytes that `reserve` has counted for the connection, if any."""
        if self.large:
            self._large_bytes -= self.large.pop(connection, 0)
