"""Decides for each webhook whether the process accepts it, and records the outcome.

The caller calls `shed`, `begin`, `authenticate`, `admit`, then `refuse` if the service rejects the webhook, and finally
`end`. All of these functions are synchronous, so code that is not asynchronous can call them, too.
"""

from collections.abc import Callable, Mapping
from time import perf_counter

from app.errors import BillingUnavailable, Draining, QueueUnavailable, Unauthorized, WebhookRefused
from app.settings import WebSettings
from app.telemetry.observers import Observers
from app.telemetry.record import UNANSWERED, WebhookRecord
from app.web.gate.admission import Admission, Permit
from app.web.gate.auth import Accepted
from app.web.gate.body import declared_length
from app.web.gate.shed import Shedding
from app.web.problems import REFUSALS, ProblemResponse, problem

Fields = Mapping[bytes, bytes]  # the headers of a webhook by name, in lower case


class Gate:
    """Decides for all webhooks of a process. `log` and `observers` receive the record of each webhook at its end."""

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

        Returns None as well if the process is stopping, because `admit` then raises Draining.
        """
        if self._admission.draining or (reason := self._admission.overload()) is None:
            return None
        return self._shedding.shed(reason, perf_counter()) if self._authorized(fields) else None

    def begin(self, fields: Fields) -> WebhookRecord:
        """Returns the record of a new webhook, with its trace if it has one."""
        return WebhookRecord(perf_counter(), trace=self._begin_trace(fields.get(b"traceparent")))

    def authenticate(self, fields: Fields) -> None:
        """Raises Unauthorized unless the headers contain an accepted pair of credentials."""
        if not self._authorized(fields):
            raise Unauthorized("Basic credentials are missing or wrong")

    def _authorized(self, fields: Fields) -> bool:
        return self._accepted.accepts(fields.get(b"authorization", b""))

    def admit(self, fields: Fields) -> Permit:
        """Admits a webhook, and reserves as many bytes as its Content-Length. The caller must release the permit.

        Raises Draining, Overloaded, UnsupportedEncoding or BodyTooLarge.
        """
        permit = self._admission.enter()
        try:
            permit.reserve(declared_length(fields, self.limits.max_body_bytes))
        except Exception:
            permit.release()
            raise
        return permit

    def end(self, record: WebhookRecord) -> None:
        """Passes the record of a webhook that has ended to the log and the observers."""
        record.answered = record.answered or perf_counter()
        self._observe(record)

    def stopped(self, record: WebhookRecord) -> ProblemResponse | None:
        """Returns a 503 for a webhook that is still in flight when APP_GRACEFUL_TIMEOUT is over.

        Returns None if the webhook has an outcome already, or if the process is not stopping.
        """
        if not self._admission.draining or record.outcome != UNANSWERED:
            return None
        began = record.event is not None  # the body is complete, and the release has begun its work
        if began:
            record.delivery = "may have been enqueued"
        return refuse(Draining("This process has stopped; send this webhook again"), record, complete=began)


def refuse(error: WebhookRefused, record: WebhookRecord, *, complete: bool = False) -> ProblemResponse:
    """Returns the response to a webhook that the service rejects because of `error`. Writes the outcome to `record`.

    `complete`: the body has arrived completely, so the response need not wait for the rest.
    """
    refusal = REFUSALS[type(error)]
    record.outcome, record.status, record.answered = refusal.slug, refusal.status, perf_counter()
    if isinstance(error, QueueUnavailable | BillingUnavailable):
        record.cause = error.cause
    if isinstance(error, QueueUnavailable):
        record.delivery = "may have been enqueued" if error.sent else "not sent"
    return problem(error, complete=complete)
