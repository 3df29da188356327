"""Sends deletes and changes of visibility timeouts in batches of at most ten, and retries failed entries.

If a delete does not reach SQS, SQS delivers the message again. If the worker has done the event's work, it then only
deletes the message. If the worker has sent a dead letter for the message, it may send a second dead letter.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from loguru import logger

from app.worker.consumed_queue import MAX_ENTRIES, FailedEntry
from app.worker.retry import pause

Entry = TypeVar("Entry")
COLLECT_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 5.0


class Batches(Generic[Entry]):
    """Collects entries, and sends them in batches with `call`, which returns None or a FailedEntry for each entry.

    `on_end` receives each entry that has succeeded or whose failure is final, with its result. Other failed entries are
    sent again with a later batch. Before each batch, drops the entries for which `is_wanted` returns False.
    """

    def __init__(
        self,
        call: Callable[[Sequence[Entry]], Awaitable[list[FailedEntry | None]]],
        on_end: Callable[[Entry, FailedEntry | None], None] = lambda _, __: None,
        is_wanted: Callable[[Entry], bool] = lambda _: True,
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
        """Sends the waiting entries, and returns when no entry is left. The caller must set a deadline."""
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
