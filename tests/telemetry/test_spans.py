"""Traces: what a collector receives from a running service, and what a consumer of the queue can continue."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from app.settings import Release
from app.telemetry.span_export import FLUSH_SECONDS
from loadtest.stage.queues import QueueProcess
from local.sample_events import fresh_events
from tests.harness.otlp_receiver import OtlpReceiver, attributes, spans_of
from tests.harness.queues import drain
from tests.harness.scrape import scrape_until
from tests.harness.service import Service, Web, environment
from tests.harness.sqs_stand_in import SqsStandIn

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENDER = "00f067aa0ba902b7"
SAMPLED = {"traceparent": f"00-{TRACE}-{SENDER}-01"}
UNSAMPLED = {"traceparent": f"00-{TRACE}-{SENDER}-00"}


def traced(aws: QueueProcess | SqsStandIn, queue_url: str, collector: str, release: Release, **settings: object) -> Web:
    ours = environment(aws.endpoint, queue_url, release=release.value, drain_delay=0, max_wait=0, **settings)
    # The exporter itself would wait for a minute, which is longer than the margin of the last test.
    patient = {"OTEL_EXPORTER_OTLP_TIMEOUT": "60"}
    otel = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector, "OTEL_BSP_SCHEDULE_DELAY": "50"} | patient
    return Web(ours | otel | {"OTEL_TRACES_SAMPLER": "parentbased_always_off"})


def received(receiver: OtlpReceiver[ExportTraceServiceRequest]) -> list[Any]:
    return [span for request in receiver.requests for span in spans_of(request)]


def wait_for(receiver: OtlpReceiver[ExportTraceServiceRequest], kinds: set[int]) -> None:
    receiver.wait_for(lambda _: kinds <= {span.kind for span in received(receiver)})


def test_one_trace_from_the_request_to_the_message(
    aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes, release: Release
) -> None:
    """The sender's span is the parent of the webhook's, and that of the call's; the message names the webhook's."""
    with (
        OtlpReceiver(ExportTraceServiceRequest) as receiver,
        traced(aws, queue_url, f"{receiver.endpoint}/v1/traces", release) as service,
    ):
        assert service.post(event, headers=SAMPLED).status_code == 200
        wait_for(receiver, {Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT})
        line = service.log(outcome="queued")
    webhook, call = sorted(received(receiver), key=lambda span: span.kind)
    assert {span.trace_id.hex() for span in (webhook, call)} == {TRACE}
    assert (webhook.name, webhook.parent_span_id.hex()) == ("POST /webhooks/chargebee", SENDER)
    assert attributes(webhook.attributes)["http.response.status_code"] == 200
    assert call.parent_span_id == webhook.span_id
    assert [link.span_id for link in call.links] == [webhook.span_id]
    assert webhook.start_time_unix_nano < call.start_time_unix_nano < call.end_time_unix_nano
    assert call.end_time_unix_nano < webhook.end_time_unix_nano < time.time_ns()
    ((_, message),) = drain(sqs, queue_url)
    assert message["traceparent"] == f"00-{TRACE}-{webhook.span_id.hex()}-01"
    assert (line["trace_id"], line["span_id"]) == (TRACE, webhook.span_id.hex())


def test_a_batch_is_linked_to_its_webhooks(event: bytes) -> None:
    """A call has one parent and links to all sampled webhooks that wait for it."""
    number = 20
    settings = {"sqs_batches": 1, "sqs_timeout": 60, "body_timeout": 60, "metrics_port": 0}
    with (
        OtlpReceiver(ExportTraceServiceRequest) as receiver,
        SqsStandIn() as sqs,
        traced(sqs, sqs.queue_url, f"{receiver.endpoint}/v1/traces", Release.V10_LEAN_CLIENT, **settings) as service,
        ThreadPoolExecutor(number) as pool,
    ):
        sqs.hold("SendMessageBatch")  # until all webhooks are there, so that later calls have several of them
        posted = [pool.submit(service.post, body, headers=SAMPLED) for body in fresh_events(event, number)]
        scrape_until(service, lambda found: found.value("http_server_active_requests") == number)
        sqs.release()
        assert [one.result(60).status_code for one in posted] == [200] * number
        receiver.wait_for(
            lambda _: len([1 for span in received(receiver) if span.kind == Span.SPAN_KIND_SERVER]) == number
        )
        receiver.wait_for(lambda _: sum(len(span.links) for span in received(receiver)) == number)
    calls = [span for span in received(receiver) if span.kind == Span.SPAN_KIND_CLIENT]
    webhooks = {span.span_id for span in received(receiver) if span.kind == Span.SPAN_KIND_SERVER}
    assert {link.span_id for call in calls for link in call.links} == webhooks
    assert max(len(call.links) for call in calls) > 1


def test_an_unsampled_trace_has_no_spans(aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes) -> None:
    """An unsampled trace reaches the consumer; webhooks without a trace or without credentials have no spans."""
    with OtlpReceiver(ExportTraceServiceRequest) as receiver:
        collector = f"{receiver.endpoint}/v1/traces"
        with traced(aws, queue_url, collector, Release.V10_LEAN_CLIENT) as service:
            assert service.post(event, headers=SAMPLED, auth=("nobody", "x")).status_code == 401
            assert service.post(event, headers=UNSAMPLED).status_code == 200
            assert service.post(event).status_code == 200
            assert service.stop() == 0
        assert received(receiver) == []
    messages = [attributes.get("traceparent") for _, attributes in drain(sqs, queue_url)]
    assert sorted(messages, key=str) == sorted([UNSAMPLED["traceparent"], None], key=str)


def test_without_a_collector(aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes) -> None:
    """The service passes the sender's span on, as the standard asks of services that do not trace."""
    with Service(aws.endpoint, queue_url, drain_delay=0) as service:
        assert service.post(event, headers=SAMPLED).status_code == 200
        line = service.log(outcome="queued")
    ((_, message),) = drain(sqs, queue_url)
    assert message["traceparent"] == SAMPLED["traceparent"]
    assert (line["trace_id"], line["span_id"]) == (TRACE, SENDER)


def test_a_failure(aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes) -> None:
    """Both spans contain the error."""
    with (
        OtlpReceiver(ExportTraceServiceRequest) as receiver,
        traced(aws, queue_url, f"{receiver.endpoint}/v1/traces", Release.V10_LEAN_CLIENT) as service,
    ):
        sqs.delete_queue(QueueUrl=queue_url)
        assert service.post(event, headers=SAMPLED).status_code == 503
        wait_for(receiver, {Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT})
    for span in received(receiver):
        assert span.status.code == Status.STATUS_CODE_ERROR
        assert attributes(span.attributes)["error.type"]


@pytest.mark.slow
@pytest.mark.parametrize("held", [True, False], ids=["silent", "down"])
def test_a_collector_that_is_gone(aws: QueueProcess, queue_url: str, event: bytes, held: bool) -> None:
    """The collector delays no webhook, and the end of the process by at most FLUSH_SECONDS."""
    with OtlpReceiver(ExportTraceServiceRequest, held=held) as receiver:
        endpoint = f"{receiver.endpoint}/v1/traces" if held else "http://127.0.0.1:9/v1/traces"
        with traced(aws, queue_url, endpoint, Release.V10_LEAN_CLIENT) as service:
            assert service.post(event, headers=SAMPLED).status_code == 200
            began = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - began < FLUSH_SECONDS + 20
