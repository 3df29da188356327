"""Entries of a call to SQS, collected to batches of ten for at most a short time; what fails is repeated."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from loguru import logger

from app.worker.queue import MOST_ENTRIES, Refusal
from app.worker.retry import pause

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

    def __len__(self) -> int:
        """Those that wait, without those in a call."""
        return len(self._waiting)

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
            elif self._waiting:
                self._start_in(COLLECT_SECONDS)
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
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), MOST_ENTRIES):
            task = asyncio.create_task(self._send(waiting[start : start + MOST_ENTRIES]))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _send(self, batch: list[Entry]) -> None:
        batch = [entry for entry in batch if self._wanted(entry)]
        if not batch:
            return
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
