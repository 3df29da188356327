"""Every error of ours, in one tree.

    InvoiceWebhookError
    ├── ConfigurationError            the process must not start (or the command must not run)
    └── WebhookRefused                answered with `status` and a problem body (RFC 9457)
        ├── Unauthorized              401  credentials missing or wrong
        ├── BodyTimeout               408  the body did not arrive in time
        ├── BodyTooLarge              413  more bytes than APP_MAX_BODY_BYTES
        ├── UnsupportedEncoding       415  a Content-Encoding other than identity
        ├── InvalidEvent              422  not JSON, not an event, or nothing that SQS takes
        └── TemporarilyUnavailable    503  Chargebee shall redeliver
            ├── Draining                   this process is stopping
            ├── Overloaded                 admission is full
            └── QueueUnavailable           SQS unreachable, throttled, slow or refusing

`app.web.problems` translates the tree to HTTP, and is the only place that does.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypedDict


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
    """A webhook that is not accepted; `detail` is for the sender and holds no payload values.

    `body_unread`: the sender may still be sending, so the answer must not cut it off.
    `cause`, `delivery`: what the log says besides.
    """

    status: ClassVar[int]
    slug: ClassVar[str]
    headers: Mapping[str, str] = {}
    body_unread = False
    cause: str | None = None
    delivery: str | None = None

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Unauthorized(WebhookRefused):
    status = 401
    slug = "unauthorized"
    headers: Mapping[str, str] = {"WWW-Authenticate": 'Basic realm="invoice-webhook", charset="UTF-8"'}
    body_unread = True


class BodyTimeout(WebhookRefused):
    status = 408
    slug = "body-timeout"
    body_unread = True


class BodyTooLarge(WebhookRefused):
    status = 413
    slug = "body-too-large"

    def __init__(self, detail: str, *, body_unread: bool = True) -> None:
        super().__init__(detail)
        self.body_unread = body_unread


class UnsupportedEncoding(WebhookRefused):
    status = 415
    slug = "unsupported-encoding"
    headers: Mapping[str, str] = {"Accept-Encoding": "identity"}
    body_unread = True


class InvalidEvent(WebhookRefused):
    status = 422
    slug = "invalid-event"

    def __init__(self, detail: str, flaws: Sequence[Flaw]) -> None:
        super().__init__(detail)
        self.flaws = flaws


class TemporarilyUnavailable(WebhookRefused):
    status = 503
    slug = "unavailable"
    headers: Mapping[str, str] = {"Retry-After": "5"}


class Draining(TemporarilyUnavailable):
    slug = "draining"
    # Closing the connection sends the sender's next attempt to a process that stays.
    headers: Mapping[str, str] = {"Retry-After": "1", "Connection": "close"}
    body_unread = True


class Overloaded(TemporarilyUnavailable):
    slug = "overloaded"
    headers: Mapping[str, str] = {"Retry-After": "1"}
    body_unread = True


class QueueUnavailable(TemporarilyUnavailable):
    """`cause` (what SQS or its client said) and `delivery` are for the log, not for the sender.

    `sent`: whether a call to SQS held the message. Then it may have been enqueued: it may be the answer that was lost.
    """

    slug = "queue-unavailable"

    def __init__(self, detail: str, cause: str, *, sent: bool = True) -> None:
        super().__init__(detail)
        self.cause = cause
        self.delivery = "may have been enqueued" if sent else "not sent"
