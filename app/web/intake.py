"""Handles a webhook in steps: decides whether to accept it, reads the event in its body, and records the outcome.

The order of the steps:

1. `Intake.shed`      rejects the webhook if the process is overloaded
2. `Intake.begin`     creates the webhook's record for log, metrics and traces
3. `Intake.head`      checks the credentials, admits the webhook, and checks Content-Encoding and Content-Length
4. `Permit.receive`   counts each part of the body (module `admission`)
5. `event`            returns the event in the body, or None if its type is ignored
6. `accept`, `refuse` write the outcome to the record
7. `Intake.end`       passes the record to the log and the observers

`middleware` calls the steps for releases under ASGI, and `webhooks` for releases without ASGI. All steps are
synchronous.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Literal

from app.errors import (
    BillingUnavailable,
    BodyTooLarge,
    Draining,
    QueueUnavailable,
    Unauthorized,
    UnsupportedEncoding,
    WebhookRefused,
)
from app.events import ParseEvent, WebhookEvent
from app.settings import WebSettings
from app.telemetry.observers import Observers
from app.telemetry.record import UNANSWERED, WebhookRecord
from app.web.admission import Admission, Permit
from app.web.credentials import Accepted
from app.web.problems import REFUSALS, ProblemResponse, problem
from app.web.shedding import Shedding

Fields = Mapping[bytes, bytes]  # the header values of a webhook by lower-case name
# "queued": SQS has acknowledged the message; "processed": the billing work is done.
Status = Literal["queued", "processed", "ignored"]


class Intake:
    """The steps that need objects of the process, such as `admission`.

    `log` and `observers` receive the record of each webhook.
    """

    def __init__(
        self,
        limits: WebSettings,
        admission: Admission,
        observers: Observers[WebhookRecord],
        log: Callable[[WebhookRecord], None],
    ) -> None:
        self.limits = limits
        self._admission = admission
        self._accepted = Accepted(limits)
        self._begin_trace = observers.begin_trace
        self._shedding = Shedding(observers.of_records())
        self._observe = observers.of_records(log)

    def shed(self, fields: Fields) -> ProblemResponse | None:
        """Returns a 503 if the process is overloaded and the webhook's credentials are right, otherwise None.

        Returns None as well if the process is stopping, because `head` then raises Draining.
        """
        if self._admission.draining or (reason := self._admission.overload()) is None:
            return None
        return self._shedding.shed(reason, perf_counter()) if self._authorized(fields) else None

    def begin(self, fields: Fields) -> WebhookRecord:
        """Returns the record of a new webhook. `trace` in the record is None if the webhook is not traced."""
        return WebhookRecord(perf_counter(), trace=self._begin_trace(fields.get(b"traceparent")))

    def head(self, fields: Fields) -> Permit:
        """Admits a webhook, and reserves memory for Content-Length bytes of body. The caller must release the permit.

        Raises Unauthorized, Draining, Overloaded, UnsupportedEncoding or BodyTooLarge.
        """
        if not self._authorized(fields):
            raise Unauthorized("Basic credentials are missing or wrong")
        permit = self._admission.enter()
        try:
            permit.reserve(_declared_length(fields, self.limits.max_body_bytes))
        except Exception:
            permit.release()
            raise
        return permit

    def _authorized(self, fields: Fields) -> bool:
        return self._accepted.accepts(fields.get(b"authorization", b""))

    def end(self, record: WebhookRecord) -> None:
        """Ends the record of a webhook, and passes the record to the log and the observers."""
        record.answered = record.answered or perf_counter()
        self._observe(record)

    def stopped(self, record: WebhookRecord) -> ProblemResponse | None:
        """Returns a 503 for a webhook that is still in flight at the end of APP_GRACEFUL_TIMEOUT.

        Returns None if the webhook has an outcome already, or if the process is not stopping.
        """
        if not self._admission.draining or record.outcome != UNANSWERED:
            return None
        began = record.event is not None  # if so, the body was complete, and the release has begun its work
        if began:
            record.delivery = "may have been enqueued"
        return refuse(Draining("This process has stopped; send this webhook again"), record, complete=began)


def event(record: WebhookRecord, body: bytes, wanted: frozenset[str], parse: ParseEvent) -> WebhookEvent | None:
    """Returns the event that `parse` finds in `body`, or None if the event's type is not in `wanted`.

    Raises InvalidEvent if `body` is not a valid event.
    """
    found = record.event = parse(body, wanted)
    return found if found.event_type in wanted else None


def accept(record: WebhookRecord, status: Status) -> str:
    """Records `status` as the webhook's outcome, and returns the event's id."""
    assert record.event is not None
    record.outcome = status
    return record.event.id


def refuse(error: WebhookRefused, record: WebhookRecord, *, complete: bool = False) -> ProblemResponse:
    """Returns the response to a webhook that the service rejects because of `error`. Writes the outcome to `record`.

    `complete`: the whole body has arrived, so the connection need not stay open for more of it.
    """
    refusal = REFUSALS[type(error)]
    record.outcome, record.status, record.answered = refusal.slug, refusal.status, perf_counter()
    if isinstance(error, QueueUnavailable | BillingUnavailable):
        record.cause = error.cause
    if isinstance(error, QueueUnavailable):
        record.delivery = "may have been enqueued" if error.sent else "not sent"
    return problem(error, complete=complete)


def _declared_length(fields: Fields, max_bytes: int) -> int:
    """Returns the Content-Length in bytes, or 0 if the request has none.

    Raises UnsupportedEncoding for a Content-Encoding other than identity, and BodyTooLarge above `max_bytes`.
    """
    encoding = fields.get(b"content-encoding")
    if encoding and encoding.strip().lower() != b"identity":
        shown = encoding[:40].decode("latin-1")
        raise UnsupportedEncoding(f"Content-Encoding {shown!r} is not supported; send the body unencoded")
    declared = int(fields.get(b"content-length", 0))
    if declared > max_bytes:
        raise BodyTooLarge(f"The body is longer than {max_bytes} bytes")
    return declared
