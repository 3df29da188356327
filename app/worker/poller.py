"""Polls SQS for as many messages as the worker has room for, until `stop` is called."""

import asyncio
from contextlib import suppress

from loguru import logger

from app.sqs.failures import code_of
from app.worker.consume import Consumer
from app.worker.consumed_queue import MAX_ENTRIES, POLL_SECONDS, ConsumedQueue
from app.worker.retry import pause

LONGEST_PAUSE_SECONDS = 15.0


class Poller:
    """Makes one poll at a time, and passes the messages to the consumer. `received`: the number of messages so far."""

    def __init__(self, queue: ConsumedQueue, visibility: int, consumer: Consumer, changed: asyncio.Event) -> None:
        """InFlight and Consumer set `changed` when there may be room for messages."""
        self._queue, self._visibility, self._consumer = queue, visibility, consumer
        self._loop = asyncio.get_running_loop()
        self._changed = changed
        self._stopped = asyncio.Event()
        self._failures = self.received = 0
        self._active_at = self._loop.time()
        self._answered_at = self._loop.time()

    def stop(self) -> None:
        """Starts no further poll. The consumer still receives the messages of the current poll."""
        self._stopped.set()
        self._changed.set()

    def idle(self) -> float:
        """Returns the seconds since the poller last began a poll, got an answer, or found that there is no room."""
        return self._loop.time() - self._active_at

    def since_answer(self) -> float:
        """Returns the seconds since SQS last answered a poll."""
        return self._loop.time() - self._answered_at

    async def run(self) -> None:
        while not self._stopped.is_set():
            self._active_at = self._loop.time()
            room = self._consumer.room()
            if room > 0:
                await self._poll(room)
            else:
                self._changed.clear()
                await _wait(self._changed, POLL_SECONDS)

    async def _poll(self, room: int) -> None:
        try:
            messages = await self._queue.receive(min(room, MAX_ENTRIES), self._visibility)
        except Exception as error:
            if not self._failures:
                logger.warning("SQS does not answer ({}): the worker will retry", code_of(error))
            self._failures += 1
            await _wait(self._stopped, pause(self._failures, LONGEST_PAUSE_SECONDS))
            return
        self._active_at = self._answered_at = self._loop.time()
        if self._failures:
            logger.info("SQS answers again")
            self._failures = 0
        self.received += len(messages)
        self._consumer.take(messages)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Waits for `event`, for at most `seconds`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
