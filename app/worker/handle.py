"""Processes the event in a message, then deletes the message, retries it later, or sends a dead letter."""

from collections.abc import Awaitable, Callable

from loguru import logger

from app.errors import InvalidEvent, Postponed, Unprocessable
from app.events import Event, UnwantedEvent, parse_event
from app.sqs.failures import code_of
from app.telemetry.record import MessageRecord
from app.worker.consumed_queue import ConsumedQueue
from app.worker.dead_letters import dead_letter
from app.worker.in_flight import InFlight
from app.worker.in_flight_message import InFlightMessage
from app.worker.retry import retry_delay

Process = Callable[[Event], Awaitable[str]]
"""Does the work of an event and returns the outcome. Raises BillingFailed. May be called again after a cancellation."""

# The outcomes of messages whose work has not succeeded. If the work succeeds, `process` returns the outcome.
# LOST: another worker may have the message. RETURNED: this worker is stopping, and has released the message.
RETRIED, DEAD_LETTER, LOST, RETURNED = "retried", "dead_letter", "lost", "returned"
IGNORED = "ignored"
NOT_AN_EVENT = "not_an_event"
NO_DEAD_LETTER = "dead_letter_queue"


class MessageHandler:
    """Handles one message per task, and writes the outcome into the message's record.

    `wanted`: the event types to process; `first_retry`: the longest delay before the first retry, in seconds.
    """

    def __init__(
        self,
        process: Process,
        wanted: frozenset[str],
        in_flight: InFlight,
        dead_letters: ConsumedQueue,
        first_retry: float,
    ) -> None:
        self._process, self._wanted, self._in_flight = process, wanted, in_flight
        self._dead_letters, self._first_retry = dead_letters, first_retry

    async def handle(self, message: InFlightMessage, record: MessageRecord) -> None:
        """Processes `message`, then deletes, retries or dead-letters it.

        After an unexpected exception, logs the traceback and retries the message, because a new version of the worker
        may fix the bug.
        """
        try:
            # The bytes of a lone surrogate are not valid UTF-8, so the parser rejects a message that contains one.
            record.event = event = parse_event(message.received.body.encode(errors="surrogatepass"), self._wanted)
        except InvalidEvent as error:
            # `where` names the invalid fields of the body, but never their values.
            where = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors[:3])
            await self._bury(message, record, NOT_AN_EVENT, f"{error.detail}: {where}")
            return
        if isinstance(event, UnwantedEvent):
            self._complete(message, record, IGNORED)
            return
        try:
            outcome = await self._process(event)
        except Unprocessable as error:
            await self._bury(message, record, error.code, error.detail)
        except Postponed as error:
            self._retry(message, record, error.code, error.retry_after)
        except Exception as error:
            logger.opt(exception=True).bind(event_id=event.id).error("Unexpected error: the message will be retried")
            self._retry(message, record, type(error).__name__)
        else:
            self._complete(message, record, outcome)

    async def _bury(self, message: InFlightMessage, record: MessageRecord, code: str, detail: str) -> None:
        """Sends the dead letter, then deletes the message. If the delete fails, a second dead letter may follow.

        If the dead-letter queue does not accept the dead letter, retries the message.
        """
        event_id = None if record.event is None else record.event.id
        try:
            letter = dead_letter(message.received, code, detail, event_id, fifo=self._dead_letters.fifo)
            await self._dead_letters.send(letter)
        except Exception as error:
            logger.bind(cause=code_of(error)).warning("The dead-letter queue did not accept a message")
            self._retry(message, record, NO_DEAD_LETTER)
        else:
            self._complete(message, record, DEAD_LETTER, code)

    def _complete(self, message: InFlightMessage, record: MessageRecord, outcome: str, code: str | None = None) -> None:
        record.outcome, record.code = outcome, code
        self._in_flight.delete(message)

    def _retry(
        self, message: InFlightMessage, record: MessageRecord, code: str, retry_after: float | None = None
    ) -> None:
        received, age = message.received, message.age()
        record.outcome, record.code = RETRIED, code
        record.retry_in = retry_delay(received.receive_count, age, retry_after, base=self._first_retry)
        self._in_flight.release(message, record.retry_in)
