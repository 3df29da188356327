"""Calls to SQS for messages that are settled: collected to batches of ten for a short time, repeated where they fail.

A message that is done and whose delete did not arrive is received again, and its event found done: deleting is what
may be repeated, not the work.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from loguru import logger

from app.worker.held import Held, Holding
from app.worker.queue import MOST_ENTRIES, ConsumedQueue, Refusal
from app.worker.retry import longest, pause

Entry = TypeVar("Entry")
COLLECT_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 5.0


class Batches(Generic[Entry]):
    """`call` gets at most ten, and says of each None or why not; `settle` is told of each that is done or refused.

    An entry that failed for another reason waits for a later batch, as long as `wanted` says so.
    """

    def __init__(
        self,
        call: Callable[[Sequence[Entry]], Awaitable[list[Refusal | None]]],
        settle: Callable[[Entry, Refusal | None], None],
        wanted: Callable[[Entry], bool],
    ) -> None:
        self._call, self._settle, self._wanted = call, settle, wanted
        self._waiting: list[Entry] = []
        self._timer: asyncio.TimerHandle | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._closed = False

    def close(self) -> None:
        """Nothing is called any more: the process ends now."""
        self._closed = True
        self._waiting.clear()

    def add(self, entry: Entry) -> None:
        if self._closed:
            return
        self._waiting.append(entry)
        if len(self._waiting) >= MOST_ENTRIES and not self._failures:
            self._start()
        else:
            self._start_in(COLLECT_SECONDS)

    async def flush(self) -> None:
        """Calls without waiting for more entries, until none is left: the caller has a deadline."""
        while self._waiting or self._calls:
            if self._waiting and not self._failures:
                self._start()
            if self._calls:
                await asyncio.wait(self._calls, timeout=COLLECT_SECONDS)
            else:
                await asyncio.sleep(COLLECT_SECONDS)  # between two attempts

    def _start_in(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._start)

    def _start(self) -> None:
        """Calls with all that wait, ten at a time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = [entry for entry in self._waiting if self._wanted(entry)], []
        for start in range(0, len(waiting), MOST_ENTRIES):
            task = asyncio.create_task(self._send(waiting[start : start + MOST_ENTRIES]))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _send(self, batch: list[Entry]) -> None:
        try:
            refusals = await self._call(batch)
            self._failures = 0
        except Exception as error:
            logger.debug("No batch: {!r}", error)
            self._again(batch)
            return
        again = []
        for entry, refusal in zip(batch, refusals, strict=True):
            if refusal is None or refusal.final:
                self._settle(entry, refusal)
            else:
                again.append(entry)
        if again:
            self._again(again)

    def _again(self, batch: list[Entry]) -> None:
        self._failures += 1
        self._waiting = batch + self._waiting
        self._start_in(pause(self._failures, LONGEST_PAUSE_SECONDS))


class Deletions:
    """Deletes what is done. `on_room` is called when messages are not held any more."""

    def __init__(self, queue: ConsumedQueue, holding: Holding, on_room: Callable[[], None]) -> None:
        self._queue, self._holding, self._on_room = queue, holding, on_room
        self._batches = Batches(self._call, self._settle, lambda held: not held.lost)
        self.flush, self.close = self._batches.flush, self._batches.close

    def add(self, held: Held) -> None:
        """`held` is extended until it is deleted."""
        held.settle()
        self._batches.add(held)

    async def _call(self, batch: Sequence[Held]) -> list[Refusal | None]:
        return await self._queue.delete([held.received.receipt for held in batch])

    def _settle(self, held: Held, refusal: Refusal | None) -> None:
        self._holding.release(held)
        self._on_room()
        if refusal is not None:
            logger.bind(message_id=held.received.message_id, cause=refusal.code).warning(
                "A message that is done was not deleted: it will come once more"
            )


class Returns:
    """Makes messages visible again: later, those that failed; at once, those that another worker is to have.

    If SQS stays unreachable, a message becomes visible when its visibility timeout ends.
    """

    def __init__(self, queue: ConsumedQueue, holding: Holding) -> None:
        self._queue, self._holding = queue, holding
        self._batches = Batches(self._call, lambda _, __: None, lambda entry: entry[0].is_hidden())
        self.flush, self.close = self._batches.flush, self._batches.close

    def add(self, held: Held, seconds: int = 0) -> None:
        """`seconds`: until it is visible; `held` is extended no more."""
        self._holding.release(held)
        self._batches.add((held, seconds))

    async def _call(self, batch: Sequence[tuple[Held, int]]) -> list[Refusal | None]:
        async with self._holding.changing:
            return await self._queue.change(
                [(held.received.receipt, min(seconds, longest(held.age()))) for held, seconds in batch]
            )
