"""Processes the event in a message, then deletes the message, retries it later, or sends a dead letter."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from loguru import logger

from app.errors import InvalidEvent, Postponed, Unprocessable
from app.events import Event, UnwantedEvent, parse_event
from app.sqs.failures import code_of
from app.telemetry.record import MessageRecord
from app.worker.batches import Deleter, Releaser
from app.worker.consumed_queue import ConsumedQueue
from app.worker.dead_letters import dead_letter
from app.worker.in_flight import InFlightMessage
from app.worker.order import MessageOrder
from app.worker.retry import retry_delay

Process = Callable[[Event], Awaitable[str]]
"""Does the work of an event and returns the outcome. Raises BillingFailed. May be called again after a cancellation."""

# The outcomes of messages whose work has not succeeded. If the work succeeds, `process` returns the outcome.
RETRIED, DEAD_LETTER, LOST, RETURNED = "retried", "dead_letter", "lost", "returned"
IGNORED = "ignored"
NOT_AN_EVENT = "not_an_event"
NO_DEAD_LETTER = "dead_letter_queue"


class MessageHandler(NamedTuple):
    """Handles one message per task. If a message must be retried, also releases the later ones of its FIFO group.

    `wanted`: the event types in APP_EVENT_TYPES; `first_retry`: the longest delay of the first retry, in seconds.
    """

    process: Process
    wanted: frozenset[str]
    order: MessageOrder
    deleter: Deleter
    releaser: Releaser
    dead_letters: ConsumedQueue
    first_retry: float

    async def handle(self, message: InFlightMessage, record: MessageRecord) -> None:
        """Processes `message`, then deletes, retries or dead-letters it. Writes the outcome into `record`.

        After an unexpected exception, logs the traceback and retries the message: a new version may repair the bug.
        """
        try:
            # The bytes of a lone surrogate are not valid UTF-8, so the parser rejects a message that contains one.
            record.event = event = parse_event(message.received.body.encode(errors="surrogatepass"), self.wanted)
        except InvalidEvent as error:
            # `where` names the invalid fields of the body, but never their values.
            where = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors[:3])
            await self._dead_letter(message, record, NOT_AN_EVENT, f"{error.detail}: {where}")
            return
        if isinstance(event, UnwantedEvent):
            self._complete(message, record, IGNORED)
            return
        try:
            outcome = await self.process(event)
        except Unprocessable as error:
            await self._dead_letter(message, record, error.code, error.detail)
        except Postponed as error:
            self._retry(message, record, error.code, error.retry_after)
        except Exception as error:
            logger.opt(exception=True).bind(event_id=event.id).error("Unexpected error: the message will be retried")
            self._retry(message, record, type(error).__name__)
        else:
            self._complete(message, record, outcome)

    def abandon(self, message: InFlightMessage, record: MessageRecord) -> None:
        """Ends a message whose task was cancelled, because another worker may have it or this worker is stopping.

        Releases the later messages of the same FIFO group. Also releases `message`, unless another worker may have it.
        """
        record.outcome = LOST if message.lost else RETURNED
        behind = self.order.give_up(message)
        self.release(behind if message.lost else [message, *behind])

    def release(self, messages: list[InFlightMessage]) -> None:
        """Makes the messages visible to other workers at once."""
        for message in messages:
            self.releaser.release(message)

    async def _dead_letter(self, message: InFlightMessage, record: MessageRecord, code: str, detail: str) -> None:
        """Sends the dead letter, then deletes the message. If the delete fails, a second dead letter may follow.

        If the dead-letter queue does not accept the dead letter, retries the message.
        """
        event_id = None if record.event is None else record.event.id
        try:
            letter = dead_letter(message.received, code, detail, event_id, fifo=self.dead_letters.fifo)
            await self.dead_letters.send(letter)
        except Exception as error:
            logger.bind(cause=code_of(error)).warning("The dead-letter queue did not accept a message")
            self._retry(message, record, NO_DEAD_LETTER)
        else:
            self._complete(message, record, DEAD_LETTER, code)

    def _complete(self, message: InFlightMessage, record: MessageRecord, outcome: str, code: str | None = None) -> None:
        record.outcome, record.code = outcome, code
        self.deleter.delete(message)
        self.order.complete(message)

    def _retry(
        self, message: InFlightMessage, record: MessageRecord, code: str, retry_after: float | None = None
    ) -> None:
        record.outcome, record.code = RETRIED, code
        record.retry_in = retry_delay(message.received.receive_count, message.age(), retry_after, base=self.first_retry)
        behind = self.order.give_up(message)
        self.releaser.release(message, record.retry_in)
        self.release(behind)
