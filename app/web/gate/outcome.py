"""The outermost part of the gate: the webhook's record, the response to a rejected one, the log line."""

import asyncio
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import BillingUnavailable, Draining, QueueUnavailable, WebhookRefused
from app.telemetry.record import UNANSWERED, ObserveWebhook, WebhookRecord
from app.telemetry.trace import Trace, current
from app.web.gate.admission import Admission
from app.web.problems import REFUSALS, ProblemResponse, problem


class Told(NamedTuple):
    """What is told of webhooks. `end`: when one has been answered. `begin_trace`: the trace of a request's headers."""

    end: ObserveWebhook
    begin_trace: Callable[[Iterable[tuple[bytes, bytes]]], Trace | None]


class Outcome:
    """Puts a WebhookRecord into the request's state, answers WebhookRefused, and logs the record.

    An exception handler would run inside admission, and a rejected webhook would keep its place while its client
    lingers.
    """

    def __init__(self, app: ASGIApp, admission: Admission, told: Told) -> None:
        self._app = app
        self._admission = admission
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        record = scope["state"]["record"] = WebhookRecord(perf_counter())
        if (trace := self._told.begin_trace(scope["headers"])) is not None:
            record.trace = trace
            current.set(trace)  # for this task, and for the threads that it waits for
        try:
            await self._app(scope, receive, send)
        except WebhookRefused as error:
            await _refused(error, record)(scope, receive, send)
        except asyncio.CancelledError:
            # By uvicorn, after APP_GRACEFUL_TIMEOUT; a webhook without a response yet gets one.
            if not self._admission.draining or record.outcome != UNANSWERED:
                raise
            await _refused(Draining("This process has stopped; send it again"), record)(scope, receive, send)
        finally:
            record.answered = record.answered or perf_counter()
            self._told.end(record)


def _refused(error: WebhookRefused, record: WebhookRecord) -> ProblemResponse:
    refusal = REFUSALS[type(error)]
    record.outcome, record.status, record.answered = refusal.slug, refusal.status, perf_counter()
    if isinstance(error, QueueUnavailable | BillingUnavailable):
        record.cause = error.cause
    if isinstance(error, QueueUnavailable):
        record.delivery = "may have been enqueued" if error.sent else "not sent"
    return problem(error)
