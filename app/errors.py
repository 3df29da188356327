"""Every error of ours, in one tree.

    InvoiceWebhookError
    ├── ConfigurationError            the process must not start (or the command must not run)
    └── WebhookRefused                this webhook is not accepted
        ├── Unauthorized              credentials missing or wrong
        ├── BodyTimeout               the body did not arrive in time
        ├── BodyTooLarge              more bytes than APP_MAX_BODY_BYTES
        ├── UnsupportedEncoding       a Content-Encoding other than identity
        ├── InvalidEvent              not JSON, not an event, or refused by SQS for its characters
        └── TemporarilyUnavailable    the same webhook may be accepted later
            ├── Draining              this process is stopping
            ├── Overloaded            admission is full
            └── QueueUnavailable      SQS unreachable, throttled, slow or refusing

The tree says what an error means. `app.web.problems` has the HTTP answer to each.
"""

from collections.abc import Sequence
from typing import TypedDict


class InvoiceWebhookError(Exception):
    """The root."""


class ConfigurationError(InvoiceWebhookError):
    """What a person has to set right; `str()` is what they read, a line for each wrong value."""


class Flaw(TypedDict):
    """One thing wrong with a body: where, what, and pydantic's word for it. Never the value."""

    loc: list[str | int]
    msg: str
    type: str


class WebhookRefused(InvoiceWebhookError):
    """A webhook that is not accepted; `detail` is for the sender and holds no payload values."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Unauthorized(WebhookRefused):
    pass


class BodyTimeout(WebhookRefused):
    pass


class BodyTooLarge(WebhookRefused):
    """`unread`: the sender may still be sending."""

    def __init__(self, detail: str, *, unread: bool = True) -> None:
        super().__init__(detail)
        self.unread = unread


class UnsupportedEncoding(WebhookRefused):
    pass


class InvalidEvent(WebhookRefused):
    """`flaws`: what is wrong with the body, for the sender."""

    def __init__(self, detail: str, flaws: Sequence[Flaw]) -> None:
        super().__init__(detail)
        self.flaws = flaws


class TemporarilyUnavailable(WebhookRefused):
    pass


class Draining(TemporarilyUnavailable):
    pass


class Overloaded(TemporarilyUnavailable):
    pass


class QueueUnavailable(TemporarilyUnavailable):
    """`cause` (SQS's code, or the client's exception) is for the log, not for the sender.

    `sent`: whether a call to SQS held the message. If so, it may have been enqueued: the answer may have been lost.
    """

    def __init__(self, detail: str, cause: str, *, sent: bool = True) -> None:
        super().__init__(detail)
        self.cause = cause
        self.sent = sent
