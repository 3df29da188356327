"""Who waits for one of anyio's threads, in which FastAPI runs sync handlers and dependencies."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio.to_thread import current_default_thread_limiter

INTERVAL_SECONDS = 0.1


class Tokens:
    """`limit` threads; for `seconds`, calls waited for a free one, `most` of them at a time.

    `found` is called with the limit as soon as the first one waits.
    """

    def __init__(self, found: Callable[[float], None]) -> None:
        self.limit, self.most, self.seconds = 0.0, 0, 0.0
        self._found = found

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Looks ten times a second, on the event loop, whose limiter it is."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            found = current_default_thread_limiter().statistics()
            if found.tasks_waiting and not self.most:
                self._found(found.total_tokens)
            self.limit, self.most = found.total_tokens, max(self.most, found.tasks_waiting)
            self.seconds += INTERVAL_SECONDS if found.tasks_waiting else 0
            await asyncio.sleep(INTERVAL_SECONDS)
