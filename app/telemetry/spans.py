"""Exports a span for each sampled webhook, message and call. Each span is built from a complete record.

Webhooks that are not sampled never reach OpenTelemetry's SDK. OpenTelemetry defines the names and attributes of spans:
https://opentelemetry.io/docs/specs/semconv/http/http-spans/, …/messaging/messaging-spans/, …/messaging/sqs/ and
…/db/dynamodb/.
"""

from abc import ABC, abstractmethod
from http import HTTPStatus
from typing import Generic

from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from app.telemetry.fields import span_attributes
from app.telemetry.record import SQS, CallRecord, MessageRecord, Record, WebhookRecord
from app.telemetry.span_export import SpanExport
from app.telemetry.trace import Sampling, Trace

PROCESS = "process"


class Tracing(ABC, Generic[Record]):
    """Exports the spans of sampled webhooks and messages, and of calls made for them. `begin` does the sampling."""

    def __init__(self, resource: Resource, version: str) -> None:
        self.begin = Sampling.from_environment().begin
        self._export = SpanExport(resource, version)
        self.close = self._export.close

    @abstractmethod
    def observe(self, record: Record) -> None:
        """Exports the span of a webhook or a message if the webhook or the message is sampled."""

    def observe_call(self, record: CallRecord) -> None:
        """Exports the span of a call if a webhook or message that needs the call is sampled.

        A call to SQS may send the messages of several webhooks. Its span is a child of the first sampled webhook's
        span, and has links to the spans of all sampled webhooks.
        """
        traces = [trace for header in record.traceparents if (trace := Trace.parsed(header.encode())) is not None]
        sampled = [trace for trace in traces if trace.sampled]
        if not sampled:
            return
        system, operation = record.system, record.operation
        attributes: dict[str, AttributeValue] = {
            **dict(zip(system.attributes, (system.value, operation), strict=True)),
            f"{system.prefix}.retries": record.retries,
            **span_attributes(record, system.prefix),
        }
        if record.messages:
            attributes["messaging.operation.type"] = "send"
        self._export.write(
            f"{operation} {system.name}",
            SpanKind.CLIENT,
            sampled[0],
            times=(record.began, record.ended),
            attributes=attributes,
            failed=record.code,
            linked=sampled if record.messages else (),
        )


class WebhookTracing(Tracing[WebhookRecord]):
    """Exports the spans of webhooks. `method` and `route` become attributes of each span."""

    def __init__(self, resource: Resource, version: str, method: str, route: str) -> None:
        super().__init__(resource, version)
        self._method, self._route = method, route

    def observe(self, record: WebhookRecord) -> None:
        trace = record.trace
        # Spans of unauthorized webhooks are not exported. Otherwise, clients without credentials could make the service
        # export any number of spans.
        if trace is None or not trace.sampled or record.status == HTTPStatus.UNAUTHORIZED:
            return
        assert record.answered is not None
        status = record.http_status
        self._export.write(
            f"{self._method} {self._route}",
            SpanKind.SERVER,
            trace.parent,
            own=trace,
            times=(record.began, record.answered),
            attributes={"http.request.method": self._method, "http.route": self._route, **span_attributes(record)},
            failed=None if status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR else record.outcome,
        )


class MessageTracing(Tracing[MessageRecord]):
    """Exports the spans of messages that a worker has processed.

    If a message has the attribute `traceparent`, its span is a child of the span that this attribute names: the span of
    the webhook, or of the webhook's sender.
    """

    def __init__(self, resource: Resource, version: str, queue: str) -> None:
        super().__init__(resource, version)
        self._queue = queue

    def observe(self, record: MessageRecord) -> None:
        trace = record.trace
        if trace is None or not trace.sampled:
            return
        assert record.ended is not None
        attributes: dict[str, AttributeValue] = {
            "messaging.system": SQS.value,
            "messaging.operation.name": PROCESS,
            "messaging.operation.type": PROCESS,
            "messaging.destination.name": self._queue,
            **span_attributes(record),
        }
        self._export.write(
            f"{PROCESS} {self._queue}",
            SpanKind.CONSUMER,
            trace.parent,
            own=trace,
            times=(record.began, record.ended),
            attributes=attributes,
            failed=record.code,
        )
