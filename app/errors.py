"""The errors of the service, in one tree.

    InvoiceWebhookError
    ├── ConfigurationError            the process cannot start, because a value is wrong
    ├── CommandFailed                 a command has failed, for example because SQS cannot be reached
    ├── WebhookRefused                this webhook is not accepted
    │   ├── Unauthorized              credentials missing or wrong
    │   ├── BodyTimeout               the body did not arrive in time
    │   ├── BodyTooLarge              more bytes than APP_MAX_BODY_BYTES
    │   ├── UnsupportedEncoding       a Content-Encoding other than identity
    │   ├── InvalidEvent              not JSON, not an event, or with characters that SQS rejects
    │   └── TemporarilyUnavailable    the same webhook may be accepted later
    │       ├── Draining              this process is stopping
    │       ├── Overloaded            too many webhooks or bytes in flight, or too long a wait
    │       ├── QueueUnavailable      SQS is unreachable or slow, throttles, or refuses the message
    │       └── BillingUnavailable    the billing work failed within the request (release v01)
    └── BillingFailed                 the billing work of an event is not done
        ├── Unprocessable             a retry cannot succeed
        └── Postponed                 a retry may succeed
            ├── ClaimedElsewhere      another worker works on the event, or on its invoice
            ├── ChargebeeUnavailable  Chargebee is unreachable or slow, fails, or is at its rate limit
            └── TableUnavailable      DynamoDB is unreachable or slow, throttles, or fails

The tree says what an error means. `app.web.problems` translates each WebhookRefused into an HTTP response.
`app.worker` decides whether a failed message is retried or becomes a dead letter.
"""

from collections.abc import Sequence
from typing import TypedDict


class InvoiceWebhookError(Exception):
    """The base class of the errors in this module."""


class ConfigurationError(InvoiceWebhookError):
    """The configuration is wrong. `str(error)` has one line for each wrong value, and says what is allowed."""


def cannot_listen(host: str, port: int, error: Exception, variable: str = "APP_PORT") -> ConfigurationError:
    """Returns the error for an address or a port on which this process cannot listen.

    `variable`: the environment variable that sets the port.
    """
    return ConfigurationError(
        f"APP_HOST={host}, {variable}={port}: cannot listen there: {error};"
        " allowed are an address of this machine and a free port (0 chooses one)"
    )


class CommandFailed(InvoiceWebhookError):
    """A command has failed, although its configuration may be right. `str(error)` says why."""


class FieldError(TypedDict):
    """A validation error in a webhook's body. It does not contain the wrong value.

    `loc`: the path to the value, or [] for the whole body; `msg`: the message; `type`: pydantic's error type, or an
    error type of this project, such as `sqs_character`.
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
    """The body is too large. `unread`: True if the client may still be sending the body."""

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
    """SQS did not acknowledge the message. `cause`: SQS's error code, or the class of the error, for the log only.

    `sent`: False if SQS certainly does not have the message. True if SQS may have accepted the message, for example
    because only SQS's answer was lost.
    """

    def __init__(self, detail: str, cause: str, *, sent: bool = True) -> None:
        super().__init__(detail)
        self.cause = cause
        self.sent = sent


class BillingUnavailable(TemporarilyUnavailable):
    """The billing work failed within the request. `cause`: the code or the class of the error, for the log only."""

    def __init__(self, detail: str, cause: str) -> None:
        super().__init__(detail)
        self.cause = cause


class BillingFailed(InvoiceWebhookError):
    """The billing work of an event is not done. `code`: the name of the cause in logs, metrics and dead letters."""

    def __init__(self, detail: str, code: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code


class Unprocessable(BillingFailed):
    """A retry cannot succeed."""


class Postponed(BillingFailed):
    """A retry may succeed. `retry_after`: the seconds to wait, or None if they are not known.

    `retry_after` comes from Chargebee's Retry-After header, the end of another worker's lease, or the rate limit.
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
