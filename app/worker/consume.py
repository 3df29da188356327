"""Processes each message in its own task, and limits the number of tasks."""

import asyncio
from time import perf_counter, time

from loguru import logger

from app.telemetry.logging import log_message
from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord
from app.telemetry.trace import current
from app.worker.consumed_queue import MAX_ENTRIES
from app.worker.handle import LOST, RETURNED, MessageHandler
from app.worker.in_flight import InFlight
from app.worker.in_flight_message import InFlightMessage, MessageState
from app.worker.received_message import ReceivedMessage

# Maximum seconds until a cancelled task has ended its lease, which is its exclusive right to work on the event.
CANCEL_SECONDS = 3.0
# Maximum number of handled messages whose delete SQS has not confirmed yet. These messages count neither towards
# `concurrency` nor towards `prefetch`.
MAX_DELETING = 2 * MAX_ENTRIES


class Consumer:
    """Starts a task for each message, at most `concurrency` at a time. At most `prefetch` messages wait for a task."""

    def __init__(
        self,
        in_flight: InFlight,
        handler: MessageHandler,
        concurrency: int,
        prefetch: int,
        observers: Observers[MessageRecord],
    ) -> None:
        self._in_flight, self._handler, self._concurrency, self._prefetch = in_flight, handler, concurrency, prefetch
        self._observe, self._continue_trace = observers.of_records(log_message), observers.continue_trace
        self._working: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def working(self) -> int:
        return len(self._working)

    def room(self) -> int:
        """Returns how many messages the next poll may receive, or 0 if they are too few to be worth a call."""
        most = self._concurrency + self._prefetch
        free = min(most - self.working - self._in_flight.waiting, most + MAX_DELETING - len(self._in_flight))
        worth = max(min(self._prefetch, MAX_ENTRIES) // 2, 1)
        return free if free >= worth else 0

    def take(self, messages: list[ReceivedMessage]) -> None:
        """Adds `messages` to the waiting messages. If the worker is stopping, releases all waiting messages."""
        for received in messages:
            self._in_flight.add(received)
        if self._stopping:
            self._in_flight.release_waiting()
        self._begin()

    def stop(self) -> None:
        """Starts no further task, and releases the waiting messages."""
        self._stopping = True
        self._in_flight.release_waiting()

    async def finish(self, seconds: float) -> None:
        """Waits at most `seconds` for the tasks. Then cancels the remaining tasks, which release their messages."""
        if self._working:
            await asyncio.wait(self._working, timeout=seconds)
        for task in self._working:
            task.cancel()
        if self._working:
            await asyncio.wait(self._working, timeout=CANCEL_SECONDS)

    def _begin(self) -> None:
        while not self._stopping and self.working < self._concurrency:
            if (message := self._in_flight.next()) is None:
                return
            task = asyncio.create_task(self._work(message))
            self._in_flight.begin(message, task)
            self._working.add(task)
            task.add_done_callback(self._end)

    def _end(self, task: "asyncio.Task[None]") -> None:
        self._working.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            what = "The task of a message has failed: unless the message is deleted, SQS delivers it again later"
            logger.opt(exception=error).error(what)
        self._begin()
        self._in_flight.changed.set()

    async def _work(self, message: InFlightMessage) -> None:
        received = message.received
        record = MessageRecord(received.message_id, waited=received.waited(time()), receives=received.receive_count)
        try:
            record.trace = self._continue_trace(received.text("traceparent"))
            current.set(record.trace)  # a context variable: other tasks do not see this value
            await self._handler.handle(message, record)
        except asyncio.CancelledError:  # another worker may have the message, or this worker is stopping
            record.outcome = LOST if message.state is MessageState.LOST else RETURNED
            self._in_flight.release(message)
            raise
        except Exception:
            self._in_flight.give_up(message)
            raise
        finally:
            record.ended = perf_counter()
            self._observe(record)
