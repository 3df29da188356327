"""Works on what was received: so many messages at a time, each to its end."""

import asyncio
from collections.abc import Callable
from time import perf_counter, time
from typing import NamedTuple

from loguru import logger

from app.errors import InvalidEvent
from app.sqs.failures import code_of
from app.telemetry.record import MessageRecord, ObserveMessage
from app.telemetry.trace import Trace, current
from app.worker.dead_letters import DeadLetters
from app.worker.delete import Deletions
from app.worker.held import Held, Holding
from app.worker.order import Order
from app.worker.received import Received
from app.worker.retry import visible_in
from app.worker.returns import Returns
from app.worker.verdict import Done, Poison, Process, Retry, Verdict, event_of, poison, verdict_of

# Outcomes of the worker's own; those of a message that is done are what `process` returns.
RETRIED, DEAD_LETTER, LOST, RETURNED = "retried", "dead_letter", "lost", "returned"
NO_DEAD_LETTER = "dead_letter_queue"
# For processing that is cancelled to let go of its claim.
LET_GO_SECONDS = 3.0
BeginTrace = Callable[[str | None], Trace | None]


class Ends(NamedTuple):
    """Where messages are held, wait, and end."""

    holding: Holding
    order: Order
    deletions: Deletions
    returns: Returns
    dead_letters: DeadLetters


class Consumer:
    """Begins what is ready while fewer than `concurrency` are worked on."""

    def __init__(
        self,
        ends: Ends,
        process: Process,
        *,
        wanted: frozenset[str],
        concurrency: int,
        observe: ObserveMessage,
        begin_trace: BeginTrace,
        on_room: Callable[[], None],
    ) -> None:
        self._ends, self._process, self._wanted, self._concurrency = ends, process, wanted, concurrency
        self._observe, self._begin_trace, self._on_room = observe, begin_trace, on_room
        self._working: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def working(self) -> int:
        return len(self._working)

    def take(self, messages: list[Received]) -> None:
        """Messages that were just received; while stopping, they are returned at once."""
        for received in messages:
            if (held := self._ends.holding.take(received)) is not None:
                self._ends.order.add(held)
        if self._stopping:
            self._return(self._ends.order.clear())
        self._begin()

    def lose(self, held: Held, code: str) -> None:
        """Another worker may have `held`: its task ends, and those behind it are returned."""
        logger.bind(message_id=held.received.message_id, cause=code).warning("A message is not ours any more")
        if held.task is not None:
            held.task.cancel()
        else:
            self._return(self._ends.order.give_up(held))

    def stop(self) -> None:
        """Begins nothing more, and returns what waits."""
        self._stopping = True
        self._return(self._ends.order.clear())

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
            if (held := self._ends.order.take()) is None:
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
        record.trace = self._begin_trace(received.text("traceparent"))
        current.set(record.trace)  # of this task alone
        try:
            await self._settle(held, await self._verdict(received, record), record)
        except asyncio.CancelledError:
            record.outcome = LOST if held.lost else RETURNED
            behind = self._ends.order.give_up(held)
            self._return(behind if held.lost else [held, *behind])
            raise
        finally:
            record.ended = perf_counter()
            self._observe(record)

    async def _verdict(self, received: Received, record: MessageRecord) -> Verdict:
        try:
            record.event = event_of(received, self._wanted)
        except InvalidEvent as error:
            return poison(error)
        return await verdict_of(record.event, self._process)

    async def _settle(self, held: Held, verdict: Verdict, record: MessageRecord) -> None:
        match verdict:
            case Done():
                record.outcome = verdict.outcome
                self._done(held)
            case Poison():
                await self._bury(held, verdict, record)
            case Retry():
                self._retry(held, verdict, record)

    async def _bury(self, held: Held, verdict: Poison, record: MessageRecord) -> None:
        event_id = None if record.event is None else record.event.id
        try:
            await self._ends.dead_letters.send(held.received, verdict, event_id)
        except Exception as error:
            logger.bind(cause=code_of(error)).warning("The dead-letter queue did not take a message")
            self._retry(held, Retry(NO_DEAD_LETTER, verdict.code), record)
            return
        record.outcome, record.code = DEAD_LETTER, verdict.code
        self._done(held)

    def _done(self, held: Held) -> None:
        self._ends.deletions.add(held)
        self._ends.order.done(held)

    def _retry(self, held: Held, verdict: Retry, record: MessageRecord) -> None:
        record.outcome, record.code = RETRIED, verdict.code
        record.retry_in = visible_in(held.received.receives, held.age(), verdict.retry_after)
        behind = self._ends.order.give_up(held)
        self._ends.returns.add(held, record.retry_in)
        self._return(behind)

    def _return(self, waiting: list[Held]) -> None:
        for held in waiting:
            self._ends.returns.add(held)
