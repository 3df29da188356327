"""One worker: its parts put together, from its first poll until it has handed back what it holds."""

import asyncio
from contextlib import suppress
from time import perf_counter
from typing import NamedTuple

from loguru import logger

from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord
from app.worker import redrive_policy
from app.worker.batches import Deletions, Returns
from app.worker.consume import Consumer
from app.worker.held import Held, Holding
from app.worker.order import Order
from app.worker.queue import MOST_ENTRIES, POLL_SECONDS, ConsumedQueue
from app.worker.receive import Receiver
from app.worker.received import Received
from app.worker.retry import pause
from app.worker.settle import Process, Settlement

# Messages that a worker holds beyond those that it works on, so that none of its tasks waits.
PREFETCH = 10
# Of APP_GRACEFUL_TIMEOUT, for handing back what is not finished.
LAST_SECONDS, LAST_PART = 5.0, 1 / 3
# Deletes that are under way may hold that many messages more than are worked on or wait.
SETTLING = 2 * MOST_ENTRIES


class Limits(NamedTuple):
    """A worker's limits. Numbers of messages: `concurrency` in work, and `prefetch` that wait. Times in seconds.

    `visibility`: how long SQS hides a message after a receive or an extension; `first_retry`: the bound of the first
    retry's delay; `idle`: how long without a poll means not alive; `grace`: how long `run` may take after `stop`.
    """

    concurrency: int
    prefetch: int
    visibility: int
    first_retry: float
    idle: float
    grace: float


class Worker:
    """Receives messages and processes them. Made on the event loop, run once. `wanted`: types of events to process."""

    def __init__(
        self,
        limits: Limits,
        queues: tuple[ConsumedQueue, ConsumedQueue],
        process: Process,
        wanted: frozenset[str],
        observers: Observers[MessageRecord],
    ) -> None:
        self._limits, self._queue = limits, queues[0]
        self._stopping = asyncio.Event()
        self._patient = True
        self.received = 0
        self.holding = Holding(self._queue, limits.visibility, self._lost)
        self._receiver = Receiver(self._queue, limits.visibility, self._room, self._take)
        look = self._receiver.look
        self._deletions = Deletions(self._queue, self.holding, look)
        self._returns = Returns(self._queue, self.holding)
        self.order = Order(fifo=self._queue.fifo)
        settlement = Settlement(
            process, wanted, self.order, self._deletions, self._returns, queues[1], limits.first_retry
        )
        self.consumer = Consumer(self.holding, settlement, limits.concurrency, observers, look)

    def stop(self, *, patient: bool = True) -> None:
        """Takes nothing more. `patient`: waits for the poll that is under way, whose messages would stay hidden."""
        self._patient = patient
        self._stopping.set()

    def close(self) -> None:
        """Nothing is handed back any more: the process ends now."""
        self._deletions.close()
        self._returns.close()

    def poll_age(self) -> float:
        """Seconds since SQS last answered a poll."""
        return self._receiver.since_answer()

    def not_alive(self) -> str | None:
        """Why it should be restarted."""
        idle = self._receiver.idle()
        return f"The last poll was {idle:.0f} s ago" if idle > self._limits.idle else None

    def not_ready(self) -> str | None:
        return "This process is stopping" if self._stopping.is_set() else None

    async def run(self) -> None:
        """Until `stop`, and then at most APP_GRACEFUL_TIMEOUT. Raises what its parts raise: a bug."""
        polling, beating = asyncio.create_task(self._receiver.run()), asyncio.create_task(self.holding.beat())
        looking = asyncio.create_task(self._look_at_policy())
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait([polling, beating, stopped], return_when=asyncio.FIRST_COMPLETED)
            await self._drain(polling)
        finally:
            for task in (stopped, looking, polling, beating):
                task.cancel()
        for task in (polling, beating):
            with suppress(asyncio.CancelledError):
                await task

    async def _drain(self, polling: "asyncio.Task[None]") -> None:
        self._stopping.set()
        grace = self._limits.grace
        deadline = perf_counter() + grace
        finishing = grace - min(LAST_SECONDS, grace * LAST_PART)
        logger.info("Stopping: {} in work, {} handed back", self.consumer.working, len(self.order))
        self._receiver.stop()
        self.consumer.stop()
        if not self._patient:
            polling.cancel()
        await asyncio.gather(self.consumer.finish(finishing), asyncio.wait([polling], timeout=finishing))
        polling.cancel()
        try:
            async with asyncio.timeout(max(deadline - perf_counter(), 0)):
                await asyncio.gather(self._returns.flush(), self._deletions.flush())
        except TimeoutError:
            logger.warning("Not handed back in time: {} messages", len(self.holding))

    async def _look_at_policy(self) -> None:
        failures = 0
        while not await redrive_policy.check(self._queue):
            failures += 1
            await asyncio.sleep(pause(failures, POLL_SECONDS))

    def _room(self) -> int:
        """For how many messages a poll may ask; 0 until a good part of ten fits, since each poll is a call."""
        most = self._limits.concurrency + self._limits.prefetch
        free = min(
            most - self.consumer.working - len(self.order),
            most + SETTLING - len(self.holding),
        )
        worth = max(min(self._limits.prefetch, MOST_ENTRIES) // 2, 1)
        return free if free >= worth else 0

    def _take(self, messages: list[Received]) -> None:
        self.received += len(messages)
        self.consumer.take(messages)

    def _lost(self, held: Held, code: str) -> None:
        self.consumer.lose(held, code)
