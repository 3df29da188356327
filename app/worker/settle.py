"""The end of a message: deleted, visible again later, or in the dead-letter queue; and what follows for its group."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from loguru import logger

from app.errors import InvalidEvent, Postponed, Unprocessable
from app.events import Event, UnwantedEvent, parse_event
from app.sqs.failures import code_of
from app.telemetry.record import MessageRecord
from app.worker.batches import Deletions, Returns
from app.worker.dead_letters import dead_letter
from app.worker.held import Held
from app.worker.order import Order
from app.worker.queue import ConsumedQueue
from app.worker.retry import visible_in

Process = Callable[[Event], Awaitable[str]]
"""Does the work of an event; returns its outcome, raises BillingFailed. May be cancelled, and called again."""

# Outcomes of the worker's own; those of a message that is done are what `process` returns.
RETRIED, DEAD_LETTER, LOST, RETURNED = "retried", "dead_letter", "lost", "returned"
IGNORED = "ignored"
NOT_AN_EVENT = "not_an_event"
NO_DEAD_LETTER = "dead_letter_queue"


class Settlement(NamedTuple):
    """Where messages go. `wanted`: APP_EVENT_TYPES, as for the webhook; `retry`: the first retry's bound, seconds."""

    process: Process
    wanted: frozenset[str]
    order: Order
    deletions: Deletions
    returns: Returns
    dead: ConsumedQueue
    retry: float

    async def settle(self, held: Held, record: MessageRecord) -> None:
        """Processes `held`, and settles it by what that returns or raises; `record` gets what becomes of it.

        An unexpected exception is logged with its traceback: it may be a bug that is repaired.
        """
        try:
            # A lone surrogate, which no JSON in UTF-8 has, is an error of the parser, too.
            record.event = event = parse_event(held.received.body.encode(errors="surrogatepass"), self.wanted)
        except InvalidEvent as error:
            # Names where the body is wrong, never a value of it.
            flaws = "; ".join(f"{'.'.join(map(str, flaw['loc'])) or 'body'}: {flaw['msg']}" for flaw in error.flaws[:3])
            await self._bury(held, record, NOT_AN_EVENT, f"{error.detail}: {flaws}")
            return
        if isinstance(event, UnwantedEvent):  # a type that nobody wants, with a content that is not validated
            self._done(held, record, IGNORED)
            return
        try:
            outcome = await self.process(event)
        except Unprocessable as error:
            await self._bury(held, record, error.code, error.detail)
        except Postponed as error:
            self._retry(held, record, error.code, error.retry_after)
        except Exception as error:
            logger.opt(exception=True).bind(event_id=event.id).error("Unexpected: the message will be tried again")
            self._retry(held, record, type(error).__name__)
        else:
            self._done(held, record, outcome)

    def abandon(self, held: Held, record: MessageRecord) -> None:
        """Its processing was cancelled: another worker has it, or is to have it at once."""
        record.outcome = LOST if held.lost else RETURNED
        behind = self.order.give_up(held)
        self.give_back(behind if held.lost else [held, *behind])

    def give_back(self, waiting: list[Held]) -> None:
        """Visible at once."""
        for held in waiting:
            self.returns.add(held)

    async def _bury(self, held: Held, record: MessageRecord, code: str, detail: str) -> None:
        """Sends it first and deletes it after: a failure in between doubles a dead letter, and loses none."""
        event_id = None if record.event is None else record.event.id
        try:
            await self.dead.send(dead_letter(held.received, code, detail, event_id, fifo=self.dead.fifo))
        except Exception as error:
            logger.bind(cause=code_of(error)).warning("The dead-letter queue did not take a message")
            self._retry(held, record, NO_DEAD_LETTER)
        else:
            self._done(held, record, DEAD_LETTER, code)

    def _done(self, held: Held, record: MessageRecord, outcome: str, code: str | None = None) -> None:
        record.outcome, record.code = outcome, code
        self.deletions.add(held)
        self.order.done(held)

    def _retry(self, held: Held, record: MessageRecord, code: str, retry_after: float | None = None) -> None:
        record.outcome, record.code = RETRIED, code
        record.retry_in = visible_in(held.received.receives, held.age(), retry_after, base=self.retry)
        behind = self.order.give_up(held)
        self.returns.add(held, record.retry_in)
        self.give_back(behind)
