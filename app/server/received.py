"""Limits the bytes that the process stores for all clients before it has checked their credentials."""

import asyncio

# One limit applies to all large heads together, the other to all bytes read in one iteration of the event loop. Above a
# limit, the process still accepts small heads and small reads, which are enough for most webhooks.
MAX_HEAD_BYTES = MAX_ITERATION_BYTES = 32 * 1024 * 1024
SMALL_HEAD, SMALL_READ = 4 * 1024, 16 * 1024


class ReceivedBytes:
    """Counts the bytes of all large heads, and the bytes read in one iteration of the loop. Not thread-safe."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.large: dict[object, int] = {}
        self._large_bytes = 0
        self._iteration_bytes = 0

    def count_read(self, size: int) -> bool:
        """Counts `size` bytes that the server has read from a client. Returns False if the caller must discard them.

        The caller must discard them if the current iteration of the event loop has read more than MAX_ITERATION_BYTES,
        and this read is larger than SMALL_READ. The tasks that check the credentials run only in the next iteration, so
        the process would have to store the bytes until then.
        """
        if self._iteration_bytes == 0:
            self._loop.call_soon(self._end_iteration)  # runs in the next iteration
        self._iteration_bytes += size
        return self._iteration_bytes <= MAX_ITERATION_BYTES or size <= SMALL_READ

    def _end_iteration(self) -> None:
        self._iteration_bytes = 0

    def reserve(self, connection: object, size: int) -> bool:
        """Counts `size` bytes that `connection` stores: a part of a head, or bytes after a request (pipelining).

        Replaces the connection's earlier reservation. Up to SMALL_HEAD bytes need no reservation. Returns False if all
        reservations together exceed MAX_HEAD_BYTES.
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
