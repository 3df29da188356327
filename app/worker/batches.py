"""Deletes messages and changes their visibility timeouts in batches of at most ten, and retries failed entries.

If a delete does not reach SQS, SQS delivers the message again. If the event is done, the worker then deletes the
message without repeating the work. If the worker has sent a dead letter, it may send a second one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from loguru import logger

from app.worker.consumed_queue import MAX_ENTRIES, ConsumedQueue, FailedEntry
from app.worker.in_flight import InFlight, InFlightMessage
from app.worker.retry import longest_visibility, pause

Entry = TypeVar("Entry")
COLLECT_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 5.0


class Batches(Generic[Entry]):
    """Collects entries, and sends them in batches with `call`, which returns None or a FailedEntry for each entry.

    `on_end` receives each entry that has succeeded, or whose failure is final. A later batch repeats any other failed
    entry. Before each batch, entries for which `is_wanted` returns False are dropped.
    """

    def __init__(
        self,
        call: Callable[[Sequence[Entry]], Awaitable[list[FailedEntry | None]]],
        on_end: Callable[[Entry, FailedEntry | None], None],
        is_wanted: Callable[[Entry], bool],
    ) -> None:
        self._call, self._on_end, self._is_wanted = call, on_end, is_wanted
        self._waiting: list[Entry] = []
        self._timer: asyncio.TimerHandle | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._closed = False

    def close(self) -> None:
        """Drops the waiting entries and accepts no new entries, because the process ends now."""
        self._closed = True
        self._waiting.clear()

    def add(self, entry: Entry) -> None:
        if self._closed:
            return
        self._waiting.append(entry)
        if len(self._waiting) >= MAX_ENTRIES and not self._failures:
            self._start()
        else:
            self._start_in(COLLECT_SECONDS)

    async def flush(self) -> None:
        """Sends the waiting entries at once, and returns when no entry is left. The caller must set a deadline."""
        while self._waiting or self._calls:
            if self._waiting and not self._failures:
                self._start()
            if self._calls:
                await asyncio.wait(self._calls, timeout=COLLECT_SECONDS)
            else:
                await asyncio.sleep(COLLECT_SECONDS)  # the timer will start the next batch

    def _start_in(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._start)

    def _start(self) -> None:
        """Sends the waiting entries in batches of ten."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = [entry for entry in self._waiting if self._is_wanted(entry)], []
        for start in range(0, len(waiting), MAX_ENTRIES):
            task = asyncio.create_task(self._send(waiting[start : start + MAX_ENTRIES]))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _send(self, batch: list[Entry]) -> None:
        try:
            results = await self._call(batch)
            self._failures = 0
        except Exception as error:
            logger.debug("A batch of deletes or releases failed, and will be sent again: {!r}", error)
            self._repeat(batch)
            return
        again = []
        for entry, failed in zip(batch, results, strict=True):
            if failed is None or failed.final:
                self._on_end(entry, failed)
            else:
                again.append(entry)
        if again:
            self._repeat(again)

    def _repeat(self, batch: list[Entry]) -> None:
        self._failures += 1
        self._waiting = batch + self._waiting
        self._start_in(pause(self._failures, LONGEST_PAUSE_SECONDS))


class Deleter:
    """Deletes messages that are done. Calls `on_room` after each delete, because it makes room for new messages."""

    def __init__(self, queue: ConsumedQueue, in_flight: InFlight, on_room: Callable[[], None]) -> None:
        self._queue, self._in_flight, self._on_room = queue, in_flight, on_room
        self._batches = Batches(self._call, self._end, lambda message: not message.lost)
        self.flush, self.close = self._batches.flush, self._batches.close

    def delete(self, message: InFlightMessage) -> None:
        """Deletes `message` with the next batch. Until then, the heartbeat keeps the message hidden."""
        message.begin_delete()
        self._batches.add(message)

    async def _call(self, batch: Sequence[InFlightMessage]) -> list[FailedEntry | None]:
        return await self._queue.delete([message.received.receipt_handle for message in batch])

    def _end(self, message: InFlightMessage, failed: FailedEntry | None) -> None:
        self._in_flight.remove(message)
        self._on_room()
        if failed is not None:
            logger.bind(message_id=message.received.message_id, cause=failed.code).warning(
                "SQS did not delete a message that is done, and will deliver it again"
            )


class Releaser:
    """Makes messages visible to all workers again: failed messages after a delay, unprocessed messages at once.

    If SQS stays unreachable, a message becomes visible when its visibility timeout ends.
    """

    def __init__(self, queue: ConsumedQueue, in_flight: InFlight) -> None:
        self._queue, self._in_flight = queue, in_flight
        self._batches = Batches(self._call, lambda _, __: None, lambda entry: entry[0].is_hidden())
        self.flush, self.close = self._batches.flush, self._batches.close

    def release(self, message: InFlightMessage, seconds: int = 0) -> None:
        """Ends the heartbeat of `message`. The next batch makes the message visible after `seconds`."""
        self._in_flight.remove(message)
        self._batches.add((message, seconds))

    async def _call(self, batch: Sequence[tuple[InFlightMessage, int]]) -> list[FailedEntry | None]:
        async with self._in_flight.visibility_lock:
            changes = [(one.received, min(seconds, longest_visibility(one.age()))) for one, seconds in batch]
            return await self._queue.change_visibility([(one.receipt_handle, seconds) for one, seconds in changes])
