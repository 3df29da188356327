"""The metrics and spans of a worker."""

import signal
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from app.telemetry.metrics.instruments import MOST_VALUES
from app.telemetry.metrics.message_metrics import MessageMetrics
from app.telemetry.record import MessageRecord
from tests.harness.otlp_receiver import OtlpReceiver, attributes, spans_of
from tests.harness.scrape import scrape, scrape_until
from tests.worker.conftest import Pair, StartWorker
from tests.worker.controller import Asked, Controller

EventNamed = Callable[[str], bytes]
TRACE, SENDER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def _policy(asked: Asked) -> dict[str, Any]:
    decided: dict[str, dict[str, Any]] = {
        "ev_done": {"outcome": "closed"},
        "ev_late": {"postponed": "lock_timeout", "retry_after": 1000},
        "ev_poison": {"unprocessable": "invoice_not_found"},
    }
    return decided[asked.event_id]


def test_messages_are_counted_by_outcome(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The metrics have retries and dead letters by cause, the time in the queue, the duration, and gauges."""
    controller.policy = _policy
    worker = start_worker(pair, metrics_port=0, block_warn=60)
    assert scrape(worker).value("invoice_webhook_worker_messages_total", outcome="dead_letter") == 0
    for name in ("ev_done", "ev_late", "ev_poison"):
        pair.send(event_named(name), received_at="2026-01-02T03:04:05.678+00:00")
    held = "invoice_webhook_worker_held_messages"
    found = scrape_until(worker, lambda found: sum(_outcomes(found.samples).values()) == 3 and not found.value(held))
    assert {name: number for name, number in _outcomes(found.samples).items() if number} == {
        "closed": 1,
        "retried": 1,
        "dead_letter": 1,
    }
    assert found.value("invoice_webhook_worker_retries_total", error_type="lock_timeout") == 1
    assert found.value("invoice_webhook_worker_dead_letters_total", error_type="invoice_not_found") == 1
    assert found.value("invoice_webhook_worker_queue_time_seconds_count") == 3
    assert found.value("invoice_webhook_worker_queue_time_seconds_bucket", le="345600.0") == 0
    labels = {"messaging_system": "aws_sqs", "messaging_operation_name": "process"}
    assert found.value("messaging_process_duration_seconds_count", **labels) == 3
    labels["messaging_operation_name"] = "ReceiveMessage"
    assert found.value("messaging_client_consumed_messages_total", **labels) == 3
    assert found.value("invoice_webhook_worker_working") == 0
    assert 0 <= found.value("invoice_webhook_worker_poll_age_seconds") < 60
    assert found.value("event_loop_blocked_total") == 0
    assert {"process_memory_usage_bytes", "event_loop_delay_seconds_count"} <= found.names()


def _outcomes(samples: dict[tuple[str, frozenset[tuple[str, str]]], float]) -> dict[str, float]:
    name = "invoice_webhook_worker_messages_total"
    return {dict(labels)["outcome"]: value for (found, labels), value in samples.items() if found == name}


def test_its_span_continues_the_webhooks(
    pair: Pair,
    controller: Controller,
    start_worker: StartWorker,
    event_named: EventNamed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message names the parent of the worker's span; the log line has the ids."""
    controller.policy = _policy
    with OtlpReceiver(ExportTraceServiceRequest) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{receiver.endpoint}/v1/traces")
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
        worker = start_worker(pair)
        message_id = pair.send(event_named("ev_poison"), traceparent=f"00-{TRACE}-{SENDER}-01")
        pair.send(event_named("ev_done"), traceparent="not a trace")
        [span] = spans_of(receiver.wait_for(lambda request: bool(spans_of(request))))
        line = worker.log(event_id="ev_poison")
        assert worker.stop(signal.SIGINT) == 0
    assert (span.kind, span.name) == (Span.SPAN_KIND_CONSUMER, "process test")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SENDER)
    assert (line["trace_id"], line["span_id"]) == (TRACE, span.span_id.hex())
    found = attributes(span.attributes)
    assert found["messaging.message.id"] == message_id
    assert found["invoice_webhook.outcome"] == "dead_letter"
    assert found["error.type"] == "invoice_not_found"


def test_series_are_bounded_whatever_is_sent() -> None:
    """The other side may choose any code."""
    metrics = MessageMetrics()
    for number in range(1000):
        metrics.observe(
            MessageRecord("m", outcome=f"o{number}", code=f"c{number}", ended=1e9, retry_in=number % 2 or None)
        )
    points = {instrument.description.name: list(instrument.points()) for instrument in metrics.instruments}
    for name in ("messages", "retries", "dead_letters"):
        assert len(points[f"invoice_webhook.worker.{name}"]) <= MOST_VALUES + 1
    assert (
        sum(value for _, value in points["invoice_webhook.worker.messages"] if isinstance(value, float | int)) == 1000
    )
