"""All errors of this project, in one tree.

    InvoiceWebhookError
    ├── ConfigurationError            the process cannot start, or the command fails
    ├── WebhookRefused                this webhook is not accepted
    │   ├── Unauthorized              credentials missing or wrong
    │   ├── BodyTimeout               the body did not arrive in time
    │   ├── BodyTooLarge              more bytes than APP_MAX_BODY_BYTES
    │   ├── UnsupportedEncoding       a Content-Encoding other than identity
    │   ├── InvalidEvent              not JSON, not an event, or with characters that SQS rejects
    │   └── TemporarilyUnavailable    the same webhook may be accepted later
    │       ├── Draining              this process is stopping
    │       ├── Overloaded            too many webhooks or bytes in flight, or too long a wait
    │       ├── QueueUnavailable      SQS unreachable, throttled, slow or refusing
    │       └── BillingUnavailable    the billing work failed within the request (v01)
    ├── BillingFailed                 the billing work of an event is not done
    │   ├── Unprocessable             a retry cannot succeed
    │   └── Postponed                 a retry may succeed
    │       ├── ClaimedElsewhere      another worker works on the event, or on its invoice
    │       ├── ChargebeeUnavailable  Chargebee unreachable, slow, failing, or at its rate limit
    │       └── TableUnavailable      DynamoDB unreachable, throttled, slow or failing
    └── LabUnavailable                an experiment of the lab has no database, no upstream, or a full pool

The tree says what an error means. `app.web.problems` translates each refusal into an HTTP response, and
`lab.application.problems` does so for the lab. `app.worker` decides whether a failed message is retried or becomes a
dead letter.
"""

from collections.abc import Sequence
from typing import TypedDict


class InvoiceWebhookError(Exception):
    """The base class of all errors of this project."""


class ConfigurationError(InvoiceWebhookError):
    """The configuration is wrong, or a command has failed, for example because SQS cannot be reached.

    `str(error)` has one line for each wrong value, or says why the command has failed.
    """


class FieldError(TypedDict):
    """A validation error in a body, without the wrong value.

    `loc`: the path to the value, or [] for the whole body; `msg`: the message; `type`: pydantic's type of the error, or
    one of this project, such as `sqs_character`.
    """

    loc: list[str | int]
    msg: str
    type: str


class WebhookRefused(InvoiceWebhookError):
    """The webhook is not accepted. `detail` is sent to the client and contains no values of the payload."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Unauthorized(WebhookRefused):
    pass


class BodyTimeout(WebhookRefused):
    pass


class BodyTooLarge(WebhookRefused):
    """The body is too large. `unread`: True if the client may still be sending it."""

    def __init__(self, detail: str, *, unread: bool = True) -> None:
        super().__init__(detail)
        self.unread = unread


class UnsupportedEncoding(WebhookRefused):
    pass


class InvalidEvent(WebhookRefused):
    """The body is not a valid event. `errors` are sent to the client."""

    def __init__(self, detail: str, errors: Sequence[FieldError]) -> None:
        super().__init__(detail)
        self.errors = errors


class TemporarilyUnavailable(WebhookRefused):
    pass


class Draining(TemporarilyUnavailable):
    pass


class Overloaded(TemporarilyUnavailable):
    pass


class QueueUnavailable(TemporarilyUnavailable):
    """SQS did not acknowledge the message. `cause`: SQS's code or the client's exception, for the log only.

    `sent`: False only if group commit rejected the message before any call to SQS contained it. If `sent` is True, the
    message may be in the queue, because SQS may have accepted the message although the answer was lost.
    """

    def __init__(self, detail: str, cause: str, *, sent: bool = True) -> None:
        super().__init__(detail)
        self.cause = cause
        self.sent = sent


class BillingUnavailable(TemporarilyUnavailable):
    """The billing work failed within the request. `cause`: the failure, for the log only."""

    def __init__(self, detail: str, cause: str) -> None:
        super().__init__(detail)
        self.cause = cause


class BillingFailed(InvoiceWebhookError):
    """The billing work of an event is not done. `code`: the cause, for logs, metrics and dead letters."""

    def __init__(self, detail: str, code: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code


class Unprocessable(BillingFailed):
    """A retry cannot succeed."""


class Postponed(BillingFailed):
    """A retry may succeed. `retry_after`: the seconds to wait, or None if they are not known.

    Chargebee's Retry-After gives these seconds, or the end of another worker's lease, or the next free slot.
    """

    def __init__(self, detail: str, code: str, retry_after: float | None = None) -> None:
        super().__init__(detail, code)
        self.retry_after = retry_after


class ClaimedElsewhere(Postponed):
    pass


class ChargebeeUnavailable(Postponed):
    pass


class TableUnavailable(Postponed):
    pass


class LabUnavailable(InvoiceWebhookError):
    """An experiment of the lab cannot run now. `str(error)` says why, and in most cases what to do."""
