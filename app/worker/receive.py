"""Asks SQS for messages, as many as there is room for, until it is told to stop."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from loguru import logger

from app.sqs.failures import code_of
from app.worker.queue import MOST_ENTRIES, POLL_SECONDS, ConsumedQueue
from app.worker.received import Received
from app.worker.retry import pause

LONGEST_PAUSE_SECONDS = 15.0


class Receiver:
    """One poll at a time. `room`: for how many messages; `take` gets what came, whenever that is."""

    def __init__(
        self,
        queue: ConsumedQueue,
        visibility: int,
        room: Callable[[], int],
        take: Callable[[list[Received]], None],
    ) -> None:
        self._queue, self._visibility, self._room, self._take = queue, visibility, room, take
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._stopped = asyncio.Event()
        self._failures = 0
        self._looked = self._loop.time()
        self._answered = self._loop.time()

    def look(self) -> None:
        """There may be room."""
        self._wake.set()

    def stop(self) -> None:
        """No further poll. The one that is under way may bring messages yet, which `take` gets."""
        self._stopped.set()
        self._wake.set()

    def idle(self) -> float:
        """Seconds since it last began or ended a poll, or found no room for one."""
        return self._loop.time() - self._looked

    def since_answer(self) -> float:
        """Seconds since SQS last answered a poll."""
        return self._loop.time() - self._answered

    async def run(self) -> None:
        while not self._stopped.is_set():
            self._looked = self._loop.time()
            room = self._room()
            if room > 0:
                await self._poll(room)
            else:
                self._wake.clear()
                await _within(POLL_SECONDS, self._wake)

    async def _poll(self, room: int) -> None:
        try:
            messages = await self._queue.receive(min(room, MOST_ENTRIES), self._visibility)
        except Exception as error:
            if not self._failures:
                logger.warning("SQS does not answer ({}): trying on", code_of(error))
            self._failures += 1
            await _within(pause(self._failures, LONGEST_PAUSE_SECONDS), self._stopped)
            return
        self._looked = self._answered = self._loop.time()
        if self._failures:
            logger.info("SQS answers again")
            self._failures = 0
        self._take(messages)


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Until `event`, at most `seconds`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
