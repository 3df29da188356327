"""Assembles a worker and runs it, from the first poll until the last message is deleted or released."""

import asyncio
from contextlib import suppress
from typing import NamedTuple

from loguru import logger

from app.clock import monotonic
from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord
from app.worker import redrive_policy
from app.worker.consume import Consumer
from app.worker.consumed_queue import POLL_SECONDS, ConsumedQueue
from app.worker.handle import MessageHandler, Process
from app.worker.heartbeat import Heartbeat
from app.worker.in_flight import InFlight
from app.worker.poller import Poller
from app.worker.retry import pause

# How many messages may wait for a free task, so that the next task can begin without another poll.
PREFETCH = 10
# When the worker stops, it reserves the end of `WorkerLimits.grace` for the calls to SQS that delete and release
# messages: LAST_SECONDS or, if this is shorter, the fraction LAST_PART of `grace`.
LAST_SECONDS, LAST_PART = 5.0, 1 / 3


class WorkerLimits(NamedTuple):
    """A worker's limits. Times are in seconds.

    `concurrency`: how many messages may be processed at the same time. `prefetch`: how many may wait for a task.
    `visibility`: how long SQS hides a message after a receive or an extension. `first_retry`: the longest delay of a
    message's first retry. `idle`: the worker counts as not alive if `Poller.idle` exceeds this value. `grace`: how long
    `Worker.run` may take after `Worker.stop` is called (`Worker.run` says when it may take longer).
    """

    concurrency: int
    prefetch: int
    visibility: int
    first_retry: float
    idle: float
    grace: float


class Worker:
    """Receives messages, and processes the messages whose event type is in `wanted`. Needs a running event loop.

    `queues`: the queue, and its dead-letter queue.
    """

    def __init__(
        self,
        limits: WorkerLimits,
        queues: tuple[ConsumedQueue, ConsumedQueue],
        process: Process,
        wanted: frozenset[str],
        observers: Observers[MessageRecord],
    ) -> None:
        self._limits, self._queue = limits, queues[0]
        self._stopping = asyncio.Event()
        self._patient = True
        self.in_flight = InFlight(self._queue, limits.visibility)
        self.heartbeat = Heartbeat(self._queue, limits.visibility, self.in_flight)
        handler = MessageHandler(process, wanted, self.in_flight, queues[1], limits.first_retry)
        self.consumer = Consumer(self.in_flight, handler, limits.concurrency, limits.prefetch, observers)
        self.poller = Poller(self._queue, limits.visibility, self.consumer, self.in_flight.changed)

    def stop(self, *, patient: bool = True) -> None:
        """Ends polling, and makes `run` return.

        If `patient` is False, cancels the current poll instead of waiting for it. The messages of this poll stay hidden
        until their visibility timeouts end.
        """
        self._patient = patient
        self._stopping.set()

    def not_alive(self) -> str | None:
        """Returns why the process should be restarted, or None if the worker is alive."""
        idle = self.poller.idle()
        return f"The last poll was {idle:.0f} s ago" if idle > self._limits.idle else None

    def not_ready(self) -> str | None:
        return "This process is stopping" if self._stopping.is_set() else None

    async def run(self) -> None:
        """Runs until `stop` is called, and then for at most `grace` seconds. Call this method only once.

        If `grace` is below 9 s, cancelled tasks may take up to CANCEL_SECONDS (consume.py) longer. If the poller or the
        heartbeat fails because of a bug, raises the exception.
        """
        polling, beating = asyncio.create_task(self.poller.run()), asyncio.create_task(self.heartbeat.run())
        checking = asyncio.create_task(self._check_policy())
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait([polling, beating, stopped], return_when=asyncio.FIRST_COMPLETED)
            await self._drain(polling)
        finally:
            for task in (stopped, checking, polling, beating):
                task.cancel()
        for task in (polling, beating):
            with suppress(asyncio.CancelledError):
                await task

    async def _drain(self, polling: "asyncio.Task[None]") -> None:
        self._stopping.set()
        grace = self._limits.grace
        deadline = monotonic() + grace
        finishing = grace - min(LAST_SECONDS, grace * LAST_PART)
        logger.info("Stopping: messages in work: {}, released: {}", self.consumer.working, self.in_flight.waiting)
        self.poller.stop()
        self.consumer.stop()
        if not self._patient:
            polling.cancel()
        await asyncio.gather(self.consumer.finish(finishing), asyncio.wait([polling], timeout=finishing))
        polling.cancel()
        try:
            async with asyncio.timeout(max(deadline - monotonic(), 0)):
                await self.in_flight.flush()
        except TimeoutError:
            logger.warning("APP_GRACEFUL_TIMEOUT is over: SQS may deliver {} messages again", len(self.in_flight))

    async def _check_policy(self) -> None:
        failures = 0
        while not await redrive_policy.check(self._queue):
            failures += 1
            await asyncio.sleep(pause(failures, POLL_SECONDS))
