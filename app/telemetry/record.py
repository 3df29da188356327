"""Defines records of webhooks, messages and calls to other services. Logs, metrics and traces are built from them.

`app.web` writes the records of webhooks, and `app.worker` the records of messages. `app.sqs`, `app.worker` and
`app.billing` write the records of calls.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from time import perf_counter
from typing import Annotated, NamedTuple, TypeVar

from app.events import Event, UnwantedEvent, WebhookEvent
from app.telemetry.fields import Metric, Named
from app.telemetry.trace import Trace

# The outcome of a webhook whose client disconnected or whose handler raised an unexpected exception. The log contains
# the exception.
UNANSWERED = "unanswered"
# The code of a call that has not ended yet, and of a call whose task was cancelled.
CANCELLED = "Cancelled"
_WEBHOOKS = Metric("invoice_webhook.webhooks", "{webhook}", "Webhooks by outcome.", label="outcome")
_REDELIVERIES = Metric("invoice_webhook.redeliveries", "{webhook}", "Webhooks that Chargebee sent again.")
# The bounds of histograms, in seconds. LAG_SECONDS ends at four days: Chargebee redelivers for 3 days 7 hours.
LAG_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0, 21_600.0, 86_400.0, 345_600.0)
CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_DURATION = Named("duration_ms", path="duration_ms", decimals=2, usual=float)
_EVENT_ID = Named("event_id", "invoice_webhook.event.id", "event.id", usual=str)
_EVENT_TYPE = Named("event_type", "invoice_webhook.event.type", "event.event_type", usual=str)
_OUTCOME = Named("outcome", "invoice_webhook.outcome", usual=str)
_TRACE_ID, _SPAN_ID = Named("trace_id", path="trace.trace_hex"), Named("span_id", path="trace.span_hex")


@dataclass(slots=True)
class WebhookRecord:
    """The record of one webhook. The service fills in the fields while it handles the webhook.

    `began`, `answered`: seconds of `time.perf_counter`. `outcome`: `queued`, `processed` (release v01), `ignored`,
    `unanswered`, or the name of the error that rejected the webhook (`slug` in `app.web.problems`). `status`: the HTTP
    status if the webhook was rejected, otherwise None. `cause`: why SQS did not acknowledge the message, or why the
    billing work failed (release v01). `delivery`: `not sent`, or `may have been enqueued` if SQS may have the message,
    but did not acknowledge it. The log line has the fields in this order.
    """

    began: float
    answered: Annotated[float | None, _DURATION] = field(default=None, kw_only=True)
    event: Annotated[
        WebhookEvent | None,
        _EVENT_ID,
        _EVENT_TYPE,
        Named("retry", path="event.is_retry", usual=bool, metric=_REDELIVERIES),
    ] = field(default=None, kw_only=True)
    outcome: Annotated[
        str, _OUTCOME._replace(metric=_WEBHOOKS), Named(span="http.response.status_code", path="http_status")
    ] = UNANSWERED
    status: Annotated[int | None, Named("status")] = None
    cause: Annotated[str | None, Named("cause")] = None
    delivery: Annotated[str | None, Named("delivery")] = None
    trace: Annotated[Trace | None, _TRACE_ID, _SPAN_ID] = None

    @property
    def duration_ms(self) -> float:
        """Returns the milliseconds from the arrival of the headers to the response. The webhook must have ended."""
        assert self.answered is not None
        return (self.answered - self.began) * 1000

    @property
    def http_status(self) -> int | None:
        """Returns the status of the response, or None if there was no response."""
        return self.status or (None if self.outcome == UNANSWERED else HTTPStatus.OK.value)


class System(NamedTuple):
    """A service that this project calls. `name`: the service's name for people.

    `value`: the service's name in metrics and spans. `attributes`: the names of the attributes that contain `value` and
    the operation. `duration`: the name of the metric for the duration of calls. For SQS and DynamoDB, OpenTelemetry
    defines `value`, `attributes` and `duration`.
    """

    name: str
    value: str
    attributes: tuple[str, str]
    duration: str

    @property
    def prefix(self) -> str:
        """Returns the prefix, without a final dot, for metrics and attributes that OpenTelemetry does not define."""
        return f"invoice_webhook.{self.name.lower()}"


SQS = System("SQS", "aws_sqs", ("messaging.system", "messaging.operation.name"), "messaging.client.operation.duration")
DYNAMODB = System("DynamoDB", "aws.dynamodb", ("db.system.name", "db.operation.name"), "db.client.operation.duration")
CHARGEBEE = System(
    "Chargebee", "chargebee", ("peer.service", "invoice_webhook.operation"), "invoice_webhook.chargebee.duration"
)
SYSTEMS = (SQS, DYNAMODB, CHARGEBEE)
_BATCH_SIZE = Metric(
    "{}.batch.size", "{message}", "Number of messages in a call to SQS.", tuple(map(float, range(1, 11))), system="SQS"
)
_BATCH_BYTES = Metric(
    *("{}.batch.bytes", "By", "Number of bytes in a call that sends webhooks to SQS."),
    bounds=tuple(1024.0 * 4**power for power in range(6)),  # from 1 KiB to 1 MiB
    system="SQS",
)
_MESSAGE_WAIT = Metric(
    "{}.wait", "s", "Time that a message waits in group commit for its call.", CALL_SECONDS, system="SQS"
)
_IN_FLIGHT = Metric(
    *("{}.calls", "{call}", "Group commit's calls in flight when one of them begins, with this one."),
    bounds=(*map(float, range(1, 17)), 32.0, 64.0),
    system="SQS",
)
_LAST = Metric(
    *("{}.last_calls", "{call}", "Group commit's calls after which no further call could begin."),
    system="SQS",
)
_TRY_WAIT = Metric(
    *("{}.wait", "s", "Time that a try waits for its slot in the rate limit of API calls."),
    bounds=CALL_SECONDS,
    system="Chargebee",
)
_THROTTLED = Metric("{}.throttled", "{call}", "Tries that Chargebee has answered with 429.", system="Chargebee")


@dataclass(slots=True)
class CallRecord:
    """The record of one call to SQS, DynamoDB or Chargebee, including its retries. It contains no payload values.

    `operation`: the name of the action in the service's API. `messages`: the number of messages in a call to SQS.
    `size`: the bytes that count towards SQS's limits; None in a worker. `sent`: True if SQS may have the messages.
    `waited`: seconds that each message waited in group commit for this call, or that each try of a call to Chargebee
    waited for its slot in the rate limit.
    `began`, `ended`: seconds of `time.perf_counter`; the wait before the first try is not included.
    `code`: the service's error code, or the name of the client's exception; None after success.
    `refused`: the error codes of messages that SQS rejected although the call succeeded, or the code with which
    Chargebee rejected the call (then `code` is None).
    `in_flight`: the number of group commit's calls in flight when this call began, including this call.
    `last`: 1 if `in_flight` is the maximum, otherwise 0. `throttled`: how many tries Chargebee answered with 429.
    `traceparents`: those of the messages that the call sends, or of the sampled webhook or message that needs the call.
    """

    operation: str
    messages: Annotated[int | None, Named(span="messaging.batch.message_count", metric=_BATCH_SIZE)] = None
    size: Annotated[int | None, Named(metric=_BATCH_BYTES)] = None
    waited: Annotated[list[float], Named(metric=_MESSAGE_WAIT), Named(metric=_TRY_WAIT)] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)
    ended: float = 0.0
    retries: int = 0
    code: str | None = CANCELLED
    refused: Annotated[list[str], Named(span="{}.refused")] = field(default_factory=list)
    traceparents: Sequence[str] = ()
    throttled: Annotated[int, Named(span="{}.throttled", metric=_THROTTLED)] = 0
    system: System = SQS
    sent: bool = False
    in_flight: Annotated[int | None, Named(metric=_IN_FLIGHT)] = None
    last: Annotated[int | None, Named(metric=_LAST)] = None


_MESSAGES = Metric("invoice_webhook.worker.messages", "{message}", "Messages by outcome.", label="outcome")
_QUEUE_TIME = Metric(
    *("invoice_webhook.worker.queue_time", "s"),
    "Time from the arrival of the webhook until a worker begins to process its message.",
    LAG_SECONDS,
)


@dataclass(slots=True)
class MessageRecord:
    """The record of one message that a worker has begun to process.

    `began`, `ended`: seconds of `time.perf_counter`. `outcome`: the result of the billing work, or one of the worker's
    own outcomes (`app.worker.handle`). `code`: the cause of a retry or a dead letter, otherwise None. `waited`: seconds
    from the arrival of the webhook until the processing began. `receives`: how often SQS has delivered the message.
    `retry_in`: seconds until the message is visible again, or None if the worker does not retry the message.
    """

    began: float = field(default_factory=perf_counter, kw_only=True)
    ended: Annotated[float | None, _DURATION] = field(default=None, kw_only=True)
    event: Annotated[Event | UnwantedEvent | None, _EVENT_ID, _EVENT_TYPE] = field(default=None, kw_only=True)
    outcome: Annotated[str, _OUTCOME._replace(metric=_MESSAGES)] = field(default="cancelled", kw_only=True)
    message_id: Annotated[str, Named("message_id", "messaging.message.id")]
    receives: Annotated[int, Named("receives", "invoice_webhook.receives")] = 1
    waited: Annotated[float | None, Named("waited_s", decimals=3, metric=_QUEUE_TIME)] = None
    code: Annotated[str | None, Named("cause")] = None
    retry_in: Annotated[int | None, Named("retry_in_s")] = None
    trace: Annotated[Trace | None, _TRACE_ID, _SPAN_ID] = None

    @property
    def duration_ms(self) -> float:
        """Returns the milliseconds for which the worker has processed the message."""
        assert self.ended is not None
        return (self.ended - self.began) * 1000


# The web process has records of webhooks, and a worker has records of messages.
Record = TypeVar("Record", WebhookRecord, MessageRecord)

ObserveWebhook = Callable[[WebhookRecord], None]
ObserveCall = Callable[[CallRecord], None]


def unobserved(record: CallRecord) -> None:
    """Ignores the record. Processes pass this function as the observer if they observe no calls."""
