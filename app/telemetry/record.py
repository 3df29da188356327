"""What is known of one webhook, one message and one call to SQS.

Written by `app.web`, `app.worker` and `app.sqs`, read by telemetry.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from app.events import Event, UnwantedEvent
from app.telemetry.trace import Trace

# The client disconnected, or an unexpected exception, whose traceback is in the log.
UNANSWERED = "unanswered"
# The code of a call that has no outcome yet; it keeps it where its task is cancelled.
CANCELLED = "Cancelled"


@dataclass(slots=True)
class WebhookRecord:
    """Filled in while the webhook is handled. Times in seconds of `time.perf_counter`.

    `outcome`: `queued`, `processed` (v01), `ignored`, `unanswered`, or the slug of a refusal (see `app.web.problems`),
    which also has a `status`. `cause`, `delivery`: of a webhook that SQS did not acknowledge; v01 has a `cause`, too.
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
    """One call to SQS, its retries included. Times in seconds of `time.perf_counter`.

    `operation`: SQS's name of it. `size`: bytes that count towards SQS's limits. `code`: SQS's error code or the name
    of what its client raised, None after success; `refused`: codes of single entries of a call that succeeded.
    `waited`: seconds that each message waited for this call in group commit. `traceparents`: of its messages, where
    they have one.
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
    """One message that a worker has received and begun to process. Times in seconds of `time.perf_counter`.

    `outcome`: what `process` returned, or one of the worker's own (`app.worker.settle`). `code`: why it is not done.
    `waited`: seconds from the webhook's arrival until now. `receives`: how often it was received. `retry_in`: seconds
    until it is visible again.
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


# What a process has records of.
Record = TypeVar("Record", WebhookRecord, MessageRecord)

ObserveWebhook = Callable[[WebhookRecord], None]
ObserveCall = Callable[[CallRecord], None]
ObserveMessage = Callable[[MessageRecord], None]


def unobserved(record: CallRecord) -> None:
    """For a process without metrics."""
