"""Processes each message in its own task, with at most APP_WORKER_CONCURRENCY tasks at a time."""

import asyncio
from collections.abc import Callable
from time import perf_counter, time

from loguru import logger

from app.telemetry.logging import log_message
from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord
from app.telemetry.trace import current
from app.worker.handle import MessageHandler
from app.worker.in_flight import InFlight, InFlightMessage
from app.worker.received_message import ReceivedMessage

# Seconds that a cancelled task may take to release its claim on the event.
CANCEL_SECONDS = 3.0


class Consumer:
    """Starts a task for each message, with at most `concurrency` tasks at a time. Calls `on_room` after each task."""

    def __init__(
        self,
        in_flight: InFlight,
        handler: MessageHandler,
        concurrency: int,
        observers: Observers[MessageRecord],
        on_room: Callable[[], None],
    ) -> None:
        self._in_flight, self._handler, self._concurrency = in_flight, handler, concurrency
        self._observe, self._continue_trace = observers.of_records(log_message), observers.continue_trace
        self._on_room = on_room
        self._working: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def working(self) -> int:
        return len(self._working)

    def take(self, messages: list[ReceivedMessage]) -> None:
        """Adds the received messages to the waiting messages. If the worker is stopping, releases them all instead."""
        for received in messages:
            if (message := self._in_flight.add(received)) is not None:
                self._handler.order.add(message)
        if self._stopping:
            self._handler.release(self._handler.order.clear())
        self._begin()

    def lose(self, message: InFlightMessage, code: str) -> None:
        """Cancels the task of `message`, because another worker may have received the message.

        If `message` has no task yet, releases the later messages of its FIFO group.
        """
        log = logger.bind(message_id=message.received.message_id, cause=code)
        log.warning("Another worker may have received the message")
        if message.task is not None:
            # After the task's first step. In a task that is cancelled before, `_work` does not begin, so it cannot give
            # the message up.
            asyncio.get_running_loop().call_soon(message.task.cancel)
        else:
            self._handler.release(self._handler.order.give_up(message))

    def stop(self) -> None:
        """Starts no further task, and releases the waiting messages."""
        self._stopping = True
        self._handler.release(self._handler.order.clear())

    async def finish(self, seconds: float) -> None:
        """Waits at most `seconds` for the tasks to end. Cancels those that still run, which releases their messages."""
        if self._working:
            await asyncio.wait(self._working, timeout=seconds)
        for task in self._working:
            task.cancel()
        if self._working:
            await asyncio.wait(self._working, timeout=CANCEL_SECONDS)

    def _begin(self) -> None:
        while not self._stopping and len(self._working) < self._concurrency:
            if (message := self._handler.order.take()) is None:
                return
            if self._in_flight.lose_if_expired(message):
                continue  # the heartbeat notices this only after the extension's call has ended
            task = asyncio.create_task(self._work(message))
            message.start(task)
            self._working.add(task)
            task.add_done_callback(self._end)

    def _end(self, task: "asyncio.Task[None]") -> None:
        self._working.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            what = "The task of a message has failed: unless the message is deleted, SQS delivers it again later"
            logger.opt(exception=error).error(what)
        self._begin()
        self._on_room()

    async def _work(self, message: InFlightMessage) -> None:
        received = message.received
        record = MessageRecord(received.message_id, waited=received.waited(time()), receives=received.receive_count)
        try:
            record.trace = self._continue_trace(received.text("traceparent"))
            current.set(record.trace)  # a context variable: other tasks do not see this value
            await self._handler.handle(message, record)
        except asyncio.CancelledError:
            self._handler.abandon(message, record)
            raise
        except Exception:
            # Without the heartbeat, the message becomes visible again at the end of its visibility timeout.
            self._in_flight.remove(message)
            self._handler.release(self._handler.order.give_up(message))
            raise
        finally:
            record.ended = perf_counter()
            self._observe(record)
