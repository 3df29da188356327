"""The records of one webhook, one message and one call to SQS, from which logs, metrics and traces are built.

`app.web`, `app.worker` and `app.sqs` write them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from app.events import Event, UnwantedEvent
from app.telemetry.trace import Trace

# The client disconnected, or the handler raised an unexpected exception, whose traceback is in the log.
UNANSWERED = "unanswered"
# The code of a call without an outcome yet, and for good if the task of the call is cancelled.
CANCELLED = "Cancelled"


@dataclass(slots=True)
class WebhookRecord:
    """A webhook; the fields are filled in while it is handled. Times are seconds of `time.perf_counter`.

    `outcome`: `queued`, `processed` (v01), `ignored`, `unanswered`, or the slug of a refusal (see `app.web.problems`).
    `status`: the HTTP status of a refusal. `cause`: why SQS did not acknowledge the message, or why the billing work
    failed (v01). `delivery`: whether the message may be in the queue although SQS did not acknowledge it.
    """

    began: float
    outcome: str = UNANSWERED
    status: int | None = None
    answered: float | None = None
    event: Event | UnwantedEvent | None = None
    body_bytes: int = 0
    cause: str | None = None
    delivery: str | None = None
    trace: Trace | None = None


@dataclass(slots=True)
class CallRecord:
    """One call to SQS, including its retries. Times are seconds of `time.perf_counter`.

    `operation`: the name of the action in SQS's API. `size`: bytes that count towards SQS's limits. `waited`: seconds
    that each message waited for this call in group commit. `code`: SQS's error code, or the name of the client's
    exception; None after success. `refused`: codes of the entries that SQS rejected in a call that succeeded.
    `traceparents`: those of the messages that have one.
    """

    operation: str
    messages: int = 0
    size: int = 0
    waited: list[float] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)
    ended: float = 0.0
    retries: int = 0
    code: str | None = CANCELLED
    refused: list[str] = field(default_factory=list)
    traceparents: Sequence[str] = ()


@dataclass(slots=True)
class MessageRecord:
    """One message that a worker has begun to process. Times are seconds of `time.perf_counter`.

    `outcome`: the result of `process`, or one of the worker's own outcomes (`app.worker.handle`). `code`: why the
    message is not done. `waited`: seconds from the webhook's arrival until the worker began. `receives`: how often SQS
    has delivered the message. `retry_in`: seconds until the message is visible again.
    """

    message_id: str
    began: float = field(default_factory=perf_counter)
    outcome: str = "cancelled"
    code: str | None = None
    ended: float | None = None
    event: Event | UnwantedEvent | None = None
    waited: float | None = None
    receives: int = 1
    retry_in: int | None = None
    trace: Trace | None = None


# A process has records of webhooks or of messages.
Record = TypeVar("Record", WebhookRecord, MessageRecord)

ObserveWebhook = Callable[[WebhookRecord], None]
ObserveCall = Callable[[CallRecord], None]
ObserveMessage = Callable[[MessageRecord], None]


def unobserved(record: CallRecord) -> None:
    """Ignores the record, in a process without metrics."""
