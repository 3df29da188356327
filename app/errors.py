"""Every error of ours, in one tree.

    InvoiceWebhookError
    ├── ConfigurationError            the process must not start (or the command must not run)
    ├── WebhookRefused                this webhook is not accepted
    │   ├── Unauthorized              credentials missing or wrong
    │   ├── BodyTimeout               the body did not arrive in time
    │   ├── BodyTooLarge              more bytes than APP_MAX_BODY_BYTES
    │   ├── UnsupportedEncoding       a Content-Encoding other than identity
    │   ├── InvalidEvent              not JSON, not an event, or refused by SQS for its characters
    │   └── TemporarilyUnavailable    the same webhook may be accepted later
    │       ├── Draining              this process is stopping
    │       ├── Overloaded            admission is full
    │       ├── QueueUnavailable      SQS unreachable, throttled, slow or refusing
    │       └── BillingUnavailable    the billing work could not be done within the request (v01)
    ├── BillingFailed                 the billing work of an event is not done
    │   ├── Unprocessable             and never can be
    │   └── Postponed                 it may be done later
    │       ├── ClaimedElsewhere      another worker works on the event, or on its invoice
    │       ├── ChargebeeUnavailable  unreachable, slow, failing, or its rate limit is reached
    │       └── TableUnavailable      DynamoDB unreachable, throttled, slow or failing
    └── LabUnavailable                an experiment of the lab has no database, no upstream, or a full pool

The tree says what an error means. `app.web.problems` has the HTTP answer to each refusal, `app.worker` what becomes of
the message of an event that failed, `lab.application.problems` the lab's answers.
"""

from collections.abc import Sequence
from typing import TypedDict


class InvoiceWebhookError(Exception):
    """The root."""


class ConfigurationError(InvoiceWebhookError):
    """A configuration that a person has to correct; `str()` has a line for each wrong value."""


class FieldError(TypedDict):
    """A validation error in a body: location ([] is the whole body), message and pydantic's type, without the value."""

    loc: list[str | int]
    msg: str
    type: str


class WebhookRefused(InvoiceWebhookError):
    """A webhook that is not accepted; `detail` is sent to the client and holds no values of the payload."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Unauthorized(WebhookRefused):
    pass


class BodyTimeout(WebhookRefused):
    pass


class BodyTooLarge(WebhookRefused):
    """`unread`: the client may still be sending."""

    def __init__(self, detail: str, *, unread: bool = True) -> None:
        super().__init__(detail)
        self.unread = unread


class UnsupportedEncoding(WebhookRefused):
    pass


class InvalidEvent(WebhookRefused):
    """A body that is not a valid event. `errors` are sent to the client."""

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
    """`cause` (SQS's code, or the exception of its client) is for the log only.

    `sent`: whether a call to SQS held the message. If so, it may have been enqueued: the answer may have been lost.
    """

    def __init__(self, detail: str, cause: str, *, sent: bool = True) -> None:
        super().__init__(detail)
        self.cause = cause
        self.sent = sent


class BillingUnavailable(TemporarilyUnavailable):
    """`cause` (the name of the failure below) is for the log only."""

    def __init__(self, detail: str, cause: str) -> None:
        super().__init__(detail)
        self.cause = cause


class BillingFailed(InvoiceWebhookError):
    """`code`: the field's name of the cause (`invoice_not_found`), for logs, metrics and dead letters."""

    def __init__(self, detail: str, code: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code


class Unprocessable(BillingFailed):
    """Repeating it changes nothing."""


class Postponed(BillingFailed):
    """`retry_after`: seconds, where the other side has named them."""

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
    """An experiment that cannot run now; `str()` says what to do."""
