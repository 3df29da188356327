"""Defines the records of webhooks, messages and calls to other services, from which logs, metrics and traces are built.

`app.web` writes the records of webhooks, and `app.worker` the records of messages. `app.sqs`, `app.worker` and
`app.billing` write the records of calls.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, TypeVar

from app.events import Event, UnwantedEvent
from app.telemetry.trace import Trace

# The outcome of a webhook whose client disconnected or whose handler raised an unexpected exception. The log contains
# the exception.
UNANSWERED = "unanswered"
# The code of a call that has not ended yet, and of a call whose task was cancelled.
CANCELLED = "Cancelled"


@dataclass(slots=True)
class WebhookRecord:
    """The record of one webhook. The service fills in the fields while it handles the webhook.

    `began`, `answered`: seconds of `time.perf_counter`. `outcome`: `queued`, `processed` (v01), `ignored`,
    `unanswered`, or the slug of a refusal (see `app.web.problems`). `status`: the HTTP status of a refusal. `cause`:
    why SQS did not acknowledge the message, or why the billing work failed (v01). `delivery`: `not sent`, or
    `may have been enqueued` if SQS may have the message although it did not acknowledge the message.
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


class System(NamedTuple):
    """A service that this project calls. `name`: its name for people.

    `value`: its name in metrics and spans. `attributes`: the names of the attributes with `value` and with the
    operation. `duration`: the name of the metric of its calls' duration. The names are OpenTelemetry's, except those
    for Chargebee, because OpenTelemetry has none.
    """

    name: str
    value: str
    attributes: tuple[str, str]
    duration: str

    @property
    def prefix(self) -> str:
        """Returns the first part of the names of this project's own metrics and attributes, without a final dot."""
        return f"invoice_webhook.{self.name.lower()}"


SQS = System("SQS", "aws_sqs", ("messaging.system", "messaging.operation.name"), "messaging.client.operation.duration")
DYNAMODB = System("DynamoDB", "aws.dynamodb", ("db.system.name", "db.operation.name"), "db.client.operation.duration")
CHARGEBEE = System(
    "Chargebee", "chargebee", ("peer.service", "invoice_webhook.operation"), "invoice_webhook.chargebee.duration"
)


@dataclass(slots=True)
class CallRecord:
    """The record of one call to SQS, DynamoDB or Chargebee, including its retries. It contains no payload values.

    `operation`: the name of the action in the service's API. `messages`: the number of messages in a call to SQS.
    `size`: bytes that count towards SQS's limits; 0 in a worker. `waited`: seconds that each message waited for this
    call in group commit, or that each try of a call to Chargebee waited for its slot in the rate limit. `began`,
    `ended`: seconds of `time.perf_counter`; the wait before the first try is not included. `code`: the service's error
    code, or the name of the client's exception; None after success. `refused`: the error codes of messages that SQS
    rejected although the call succeeded, or the code with which Chargebee, which works, has rejected the call.
    `throttled`: the number of tries that Chargebee has answered with 429. `traceparents`: the attribute `traceparent`
    of each message in the call, or of the message for which the call is made. `sent`: SQS may have the messages.
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
    throttled: int = 0
    system: System = SQS
    sent: bool = False


@dataclass(slots=True)
class MessageRecord:
    """The record of one message that a worker has begun to process.

    `began`, `ended`: seconds of `time.perf_counter`. `outcome`: the result of the billing work, or one of the worker's
    own outcomes (`app.worker.handle`). `code`: the cause of a retry or a dead letter, otherwise None. `waited`: seconds
    from the arrival of the webhook until the worker began. `receives`: how often SQS has delivered the message.
    `retry_in`: seconds until the message is visible again, or None if the worker does not retry the message.
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


# The web process has records of webhooks, and a worker has records of messages.
Record = TypeVar("Record", WebhookRecord, MessageRecord)

ObserveWebhook = Callable[[WebhookRecord], None]
ObserveCall = Callable[[CallRecord], None]


def unobserved(record: CallRecord) -> None:
    """Ignores the record. Processes pass this function as the observer if they observe no calls."""
