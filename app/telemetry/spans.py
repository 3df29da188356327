"""Spans of webhooks and of calls to SQS, over OTLP, each made of its record when it has ended.

So nothing of OpenTelemetry's SDK runs on the path of a webhook that is not sampled. Names and attributes:
https://opentelemetry.io/docs/specs/semconv/http/http-spans/ and …/messaging/sqs/.
"""

import random
import threading
from collections.abc import Mapping
from http import HTTPStatus
from time import perf_counter, time_ns

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)
from opentelemetry.util.types import AttributeValue

from app.telemetry.record import UNANSWERED, CallRecord, WebhookRecord
from app.telemetry.trace import Sampling, Trace

SYSTEM = "aws_sqs"
FLUSH_SECONDS = 3.0


class Tracing:
    """Decides with `begin` which webhooks are traced; `webhook` and `call` are told of what has ended."""

    def __init__(self, resource: Resource, version: str, method: str, route: str) -> None:
        self.begin = Sampling.from_environment().begin
        self._method, self._route = method, route
        self._ids = _Given()
        self._lock = threading.Lock()  # calls of v02 to v07 end in threads of their own
        self._provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, id_generator=self._ids)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("invoice_webhook", version)

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
        with self._lock:
            self._ids.set(trace)
            self._span(
                f"{self._method} {self._route}",
                SpanKind.SERVER,
                parent,
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
        links = [Link(_context(trace)) for trace in sampled]
        with self._lock:
            self._ids.set(None)
            self._span(
                f"{record.operation} SQS",
                SpanKind.CLIENT,
                sampled[0],
                times=(record.began, record.ended),
                attributes=attributes,
                failed=record.code,
                links=links,
            )

    def close(self) -> None:
        """Exports what is there, for at most FLUSH_SECONDS: by itself, the SDK waits for half a minute."""
        flushing = threading.Thread(target=self._provider.shutdown, daemon=True)
        flushing.start()
        flushing.join(FLUSH_SECONDS)

    def _span(
        self,
        name: str,
        kind: SpanKind,
        parent: Trace | None,
        *,
        times: tuple[float, float],
        attributes: Mapping[str, AttributeValue],
        failed: str | None,
        links: list[Link] | None = None,
    ) -> None:
        context = Context() if parent is None else set_span_in_context(NonRecordingSpan(_context(parent)), Context())
        start, end = map(_epoch_ns, times)
        span = self._tracer.start_span(name, context, kind, attributes, links, start)
        if failed is not None:
            span.set_attribute("error.type", failed)
            span.set_status(Status(StatusCode.ERROR))
        span.end(end)


class _Given(IdGenerator):
    """The ids of a webhook's span, which its message already has; random ones for other spans."""

    def __init__(self) -> None:
        self._trace: Trace | None = None

    def set(self, trace: Trace | None) -> None:
        self._trace = trace

    def generate_trace_id(self) -> int:
        return self._trace.trace_id if self._trace else random.getrandbits(128) or 1

    def generate_span_id(self) -> int:
        return self._trace.span_id if self._trace else random.getrandbits(64) or 1


def _context(trace: Trace) -> SpanContext:
    return SpanContext(trace.trace_id, trace.span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _epoch_ns(moment: float) -> int:
    """Of `time.perf_counter`, in nanoseconds since the epoch."""
    return time_ns() - int((perf_counter() - moment) * 1e9)
