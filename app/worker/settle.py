"""The end of a message: deleted, visible again later, or in the dead-letter queue; and what follows for its group."""

from typing import NamedTuple

from loguru import logger

from app.sqs.failures import code_of
from app.telemetry.record import MessageRecord
from app.worker.dead_letters import DeadLetters
from app.worker.delete import Deletions
from app.worker.held import Held
from app.worker.order import Order
from app.worker.retry import visible_in
from app.worker.returns import Returns
from app.worker.verdict import Done, Poison, Retry, Verdict

# Outcomes of the worker's own; those of a message that is done are what `process` returns.
RETRIED, DEAD_LETTER, LOST, RETURNED = "retried", "dead_letter", "lost", "returned"
NO_DEAD_LETTER = "dead_letter_queue"


class Settlement(NamedTuple):
    """Where messages go. `retry_base`: APP_WORKER_RETRY."""

    order: Order
    deletions: Deletions
    returns: Returns
    dead_letters: DeadLetters
    retry_base: float

    async def settle(self, held: Held, verdict: Verdict, record: MessageRecord) -> None:
        """By `verdict`; `record` gets what becomes of it."""
        match verdict:
            case Done():
                record.outcome = verdict.outcome
                self._done(held)
            case Poison():
                await self._bury(held, verdict, record)
            case Retry():
                self._retry(held, verdict, record)

    def abandon(self, held: Held, record: MessageRecord) -> None:
        """Its processing was cancelled: another worker has it, or is to have it at once."""
        record.outcome = LOST if held.lost else RETURNED
        behind = self.order.give_up(held)
        self.give_back(behind if held.lost else [held, *behind])

    def give_back(self, waiting: list[Held]) -> None:
        """Visible at once."""
        for held in waiting:
            self.returns.add(held)

    async def _bury(self, held: Held, verdict: Poison, record: MessageRecord) -> None:
        event_id = None if record.event is None else record.event.id
        try:
            await self.dead_letters.send(held.received, verdict, event_id)
        except Exception as error:
            logger.bind(cause=code_of(error)).warning("The dead-letter queue did not take a message")
            self._retry(held, Retry(NO_DEAD_LETTER, verdict.code), record)
            return
        record.outcome, record.code = DEAD_LETTER, verdict.code
        self._done(held)

    def _done(self, held: Held) -> None:
        self.deletions.add(held)
        self.order.done(held)

    def _retry(self, held: Held, verdict: Retry, record: MessageRecord) -> None:
        record.outcome, record.code = RETRIED, verdict.code
        record.retry_in = visible_in(held.received.receives, held.age(), verdict.retry_after, base=self.retry_base)
        behind = self.order.give_up(held)
        self.returns.add(held, record.retry_in)
        self.give_back(behind)
