"""Counts the calls that wait for a thread of AnyIO's pool, where FastAPI runs sync handlers and dependencies."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio.to_thread import current_default_thread_limiter

INTERVAL_SECONDS = 0.1


class Tokens:
    """Watches a pool of `limit` threads. Calls waited for a free thread for `seconds`, at most `most` at the same time.

    `on_waiting` is called with the limit as soon as the first call waits.
    """

    def __init__(self, on_waiting: Callable[[float], None]) -> None:
        self.limit, self.most, self.seconds = 0.0, 0, 0.0
        self._on_waiting = on_waiting

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Samples the pool ten times a second. Enter it on the event loop, which owns the pool's limiter."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            found = current_default_thread_limiter().statistics()
            if found.tasks_waiting and not self.most:
                self._on_waiting(found.total_tokens)
            self.limit, self.most = found.total_tokens, max(self.most, found.tasks_waiting)
            self.seconds += INTERVAL_SECONDS if found.tasks_waiting else 0
            await asyncio.sleep(INTERVAL_SECONDS)
