"""Spans of webhooks and of calls to SQS, over OTLP, each made of its record when it has ended.

So nothing of OpenTelemetry's SDK runs on the path of a webhook that is not sampled. Names and attributes:
https://opentelemetry.io/docs/specs/semconv/http/http-spans/ and …/messaging/sqs/.
"""

from http import HTTPStatus

from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from app.telemetry.record import UNANSWERED, CallRecord, WebhookRecord
from app.telemetry.span_export import SYSTEM, SpanExport
from app.telemetry.trace import Sampling, Trace


class Tracing:
    """Decides with `begin` which webhooks are traced; `webhook` and `call` are told of what has ended."""

    def __init__(self, resource: Resource, version: str, method: str, route: str) -> None:
        self.begin = Sampling.from_environment().begin
        self._method, self._route = method, route
        self._export = SpanExport(resource, version)
        self.close = self._export.close

    def webhook(self, record: WebhookRecord) -> None:
        """The span of a webhook that has been answered, if it is sampled."""
        trace = record.trace
        # Whoever has no credentials would otherwise decide what is exported.
        if trace is None or not trace.sampled or record.status == HTTPStatus.UNAUTHORIZED:
            return
        assert record.answered is not None
        status = record.status or (None if record.outcome == UNANSWERED else HTTPStatus.OK.value)
        attributes: dict[str, AttributeValue] = {
            "http.request.method": self._method,
            "http.route": self._route,
            "invoice_webhook.outcome": record.outcome,
        }
        if status is not None:
            attributes["http.response.status_code"] = status
        if record.event is not None:
            attributes |= {"invoice_webhook.event.id": record.event.id}
            attributes |= {"invoice_webhook.event.type": record.event.event_type}
        parent = None if trace.parent_id is None else trace._replace(span_id=trace.parent_id)
        failed = None if status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR else record.outcome
        self._export.write(
            f"{self._method} {self._route}",
            SpanKind.SERVER,
            parent,
            own=trace,
            times=(record.began, record.answered),
            attributes=attributes,
            failed=failed,
        )

    def call(self, record: CallRecord) -> None:
        """The span of a call to SQS: a child of its first sampled webhook's, linked to all of them."""
        if not record.traceparents:
            return
        traces = [trace for header in record.traceparents if (trace := Trace.parsed(header.encode())) is not None]
        sampled = [trace for trace in traces if trace.sampled]
        if not sampled:
            return
        attributes: dict[str, AttributeValue] = {
            "messaging.system": SYSTEM,
            "messaging.operation.name": record.operation,
            "messaging.operation.type": "send",
            "messaging.batch.message_count": record.messages,
            "invoice_webhook.sqs.retries": record.retries,
        }
        self._export.write(
            f"{record.operation} SQS",
            SpanKind.CLIENT,
            sampled[0],
            times=(record.began, record.ended),
            attributes=attributes,
            failed=record.code,
            linked=sampled,
        )
