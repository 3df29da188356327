"""Sends spans to a collector over OTLP."""

import random
import threading
from collections.abc import Mapping, Sequence
from time import perf_counter_ns, time_ns

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

from app.telemetry.trace import Trace

FLUSH_SECONDS = 3.0


class SpanExport:
    """Sends all spans of this process to the collector. A process has one SpanExport."""

    def __init__(self, resource: Resource, version: str) -> None:
        self._ids = _KnownIds()
        self._lock = threading.Lock()  # several threads call `write`, because releases v03 to v07 call SQS in threads
        self._provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, id_generator=self._ids)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("invoice_webhook", version)

    def close(self) -> None:
        """Sends the remaining spans, and waits at most FLUSH_SECONDS. The SDK itself would wait for half a minute."""
        flushing = threading.Thread(target=self._provider.shutdown, daemon=True)
        flushing.start()
        flushing.join(FLUSH_SECONDS)

    def write(
        self,
        name: str,
        kind: SpanKind,
        parent: Trace | None,
        *,
        times: tuple[float, float],
        attributes: Mapping[str, AttributeValue],
        failed: str | None,
        own: Trace | None = None,
        linked: Sequence[Trace] = (),
    ) -> None:
        """Exports one span.

        `times`: start and end in seconds of `time.perf_counter`. `failed`: the error type, or None after success.
        `own`: the ids of the span, or None for random ids. `linked`: the spans to which this span links.
        """
        context = Context() if parent is None else set_span_in_context(NonRecordingSpan(_context(parent)), Context())
        # Start and end use the same difference between the two clocks, so that the duration of the span stays exact.
        epoch_ns = time_ns() - perf_counter_ns()
        start, end = (epoch_ns + int(moment * 1e9) for moment in times)
        links = [Link(_context(trace)) for trace in linked]
        with self._lock:
            self._ids.set(own)
            span = self._tracer.start_span(name, context, kind, attributes, links, start)
            if failed is not None:
                span.set_attribute("error.type", failed)
                span.set_status(Status(StatusCode.ERROR))
            span.end(end)


class _KnownIds(IdGenerator):
    """Returns the ids of the trace passed to `set`, or random ids after `set(None)`.

    The ids of a webhook's span are known before the span is exported, because the SQS message contains them.
    """

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
