"""The metrics and spans of a worker's calls to DynamoDB and Chargebee."""

import json
import sys

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from local.embedded_aws import EmbeddedAws
from tests.billing.stage import Stage, event_body, some
from tests.harness.otlp_receiver import OtlpReceiver, attributes, spans_of
from tests.harness.scrape import scrape, scrape_until
from tests.harness.service import Web
from tests.worker.conftest import make_pair, with_billing
from tests.worker.test_telemetry import SENDER, TRACE

COMMAND = [sys.executable, "-m", "app", "worker"]


@pytest.mark.parametrize("errors", [0, 1], ids=["works", "fails"])
def test_calls_are_counted_and_traced(embedded: EmbeddedAws, stage: Stage, errors: int) -> None:
    """The spans of a sampled message's calls are children of its span. Failures are counted by code."""
    pair, body = make_pair(embedded.endpoint), event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(2))
    stage.behave(errors=errors)
    with OtlpReceiver(ExportTraceServiceRequest) as receiver:
        collector = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{receiver.endpoint}/v1/traces",
            "OTEL_TRACES_SAMPLER": "parentbased_always_off",
        }
        with Web(with_billing(pair, stage) | collector | {"APP_METRICS_PORT": "0"}, command=COMMAND) as worker:
            first = scrape(worker)
            pair.send(json.dumps(body), traceparent=f"00-{TRACE}-{SENDER}-01")
            outcome = "retried" if errors else "closed"
            worker.log(event_id=body["id"], outcome=outcome)
            counted = ("invoice_webhook_worker_messages_total", frozenset({("outcome", outcome)}))
            found = scrape_until(worker, lambda found: found.samples[counted] >= 1)
            assert worker.stop() == 0
        stage.behave(errors=0)
        spans = [span for request in receiver.requests for span in spans_of(request)]
    for outcome in ("closed", "already", "ignored", "dead_letter"):  # they begin at 0, so that `rate` sees the first
        assert first.value("invoice_webhook_worker_messages_total", outcome=outcome) == 0
    message = next(span for span in spans if span.kind == Span.SPAN_KIND_CONSUMER)
    calls = [span for span in spans if span.kind == Span.SPAN_KIND_CLIENT]
    calls = [call for call in calls if call.parent_span_id == message.span_id]
    names = [call.name for call in calls]
    assert "UpdateItem DynamoDB" in names
    table = {"db_system_name": "aws.dynamodb", "db_operation_name": "UpdateItem"}
    assert found.value("db_client_operation_duration_seconds_count", **table) >= 1
    charges = [call for call in calls if call.name == "add_charge Chargebee"]
    about = {"peer_service": "chargebee", "invoice_webhook_operation": "add_charge"}
    assert found.value("invoice_webhook_chargebee_duration_seconds_count", **about) >= 1
    assert attributes(charges[0].attributes).items() >= {"peer.service": "chargebee"}.items()
    failures = sum(n for (name, _), n in found.samples.items() if name == "invoice_webhook_chargebee_failures_total")
    retries = found.value("invoice_webhook_chargebee_retries_total")
    assert (failures >= 1, retries >= 2) == ((True, True) if errors else (False, False))
    assert (charges[0].status.code == Status.STATUS_CODE_ERROR) is bool(errors)
