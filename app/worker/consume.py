"""Works on what was received: so many messages at a time, each to its end."""

import asyncio
from collections.abc import Callable
from time import perf_counter, time

from loguru import logger

from app.telemetry.logging import log_message
from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord
from app.telemetry.trace import current
from app.worker.held import Held, Holding
from app.worker.received import Received
from app.worker.settle import Settlement

# For processing that is cancelled to let go of its claim.
LET_GO_SECONDS = 3.0


class Consumer:
    """Begins what is ready while fewer than `concurrency` are worked on."""

    def __init__(
        self,
        holding: Holding,
        settlement: Settlement,
        concurrency: int,
        observers: Observers[MessageRecord],
        on_room: Callable[[], None],
    ) -> None:
        self._holding, self._settlement, self._concurrency = holding, settlement, concurrency
        self._observe, self._continue_trace = observers.of_records(log_message), observers.continue_trace
        self._on_room = on_room
        self._working: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def working(self) -> int:
        return len(self._working)

    def take(self, messages: list[Received]) -> None:
        """Messages that were just received; while stopping, they are returned at once."""
        for received in messages:
            if (held := self._holding.take(received)) is not None:
                self._settlement.order.add(held)
        if self._stopping:
            self._settlement.give_back(self._settlement.order.clear())
        self._begin()

    def lose(self, held: Held, code: str) -> None:
        """Another worker may have `held`: its task ends, and those behind it are returned."""
        logger.bind(message_id=held.received.message_id, cause=code).warning("A message is not ours any more")
        if held.task is not None:
            held.task.cancel()
        else:
            self._settlement.give_back(self._settlement.order.give_up(held))

    def stop(self) -> None:
        """Begins nothing more, and returns what waits."""
        self._stopping = True
        self._settlement.give_back(self._settlement.order.clear())

    async def finish(self, seconds: float) -> None:
        """Waits for what is worked on; after `seconds` it is cancelled and returned."""
        if self._working:
            await asyncio.wait(self._working, timeout=seconds)
        for task in self._working:
            task.cancel()
        if self._working:
            await asyncio.wait(self._working, timeout=LET_GO_SECONDS)

    def _begin(self) -> None:
        while not self._stopping and len(self._working) < self._concurrency:
            if (held := self._settlement.order.take()) is None:
                return
            task = asyncio.create_task(self._work(held))
            held.work(task)
            self._working.add(task)
            task.add_done_callback(self._worked)

    def _worked(self, task: "asyncio.Task[None]") -> None:
        self._working.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.opt(exception=error).error("A message was not settled: it will come again")
        self._begin()
        self._on_room()

    async def _work(self, held: Held) -> None:
        received = held.received
        record = MessageRecord(received.message_id, waited=received.waited(time()), receives=received.receives)
        record.trace = self._continue_trace(received.text("traceparent"))
        current.set(record.trace)  # of this task alone
        try:
            await self._settlement.settle(held, record)
        except asyncio.CancelledError:
            self._settlement.abandon(held, record)
            raise
        finally:
            record.ended = perf_counter()
            self._observe(record)
