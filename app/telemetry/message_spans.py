"""Spans of messages that a worker has processed, each a child of its webhook's span.

https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/ and …/messaging/sqs/.
"""

from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from app.telemetry.record import MessageRecord
from app.telemetry.span_export import SYSTEM, SpanExport
from app.telemetry.trace import Sampling, Trace

OPERATION = "process"


class MessageTracing:
    """Decides with `begin` which messages are traced; `message` is told of what has ended."""

    def __init__(self, resource: Resource, version: str, queue: str) -> None:
        self._sampling = Sampling.from_environment()
        self._queue = queue
        self._export = SpanExport(resource, version)
        self.close = self._export.close

    def begin(self, traceparent: str | None) -> Trace | None:
        """The trace of a message with that attribute, if it has one."""
        return self._sampling.begin([] if traceparent is None else [(b"traceparent", traceparent.encode())])

    def message(self, record: MessageRecord) -> None:
        """The span of a message that was processed, if it is sampled."""
        trace = record.trace
        if trace is None or not trace.sampled:
            return
        assert record.ended is not None
        attributes: dict[str, AttributeValue] = {
            "messaging.system": SYSTEM,
            "messaging.operation.name": OPERATION,
            "messaging.operation.type": OPERATION,
            "messaging.destination.name": self._queue,
            "messaging.message.id": record.message_id,
            "invoice_webhook.outcome": record.outcome,
            "invoice_webhook.receives": record.receives,
        }
        if record.event is not None:
            attributes |= {"invoice_webhook.event.id": record.event.id}
            attributes |= {"invoice_webhook.event.type": record.event.event_type}
        self._export.write(
            f"{OPERATION} {self._queue}",
            SpanKind.CONSUMER,
            None if trace.parent_id is None else trace._replace(span_id=trace.parent_id),
            own=trace,
            times=(record.began, record.ended),
            attributes=attributes,
            failed=record.code,
        )
