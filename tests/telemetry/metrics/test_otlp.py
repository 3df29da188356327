"""OTLP: what a collector receives from a running service."""

import signal
import time
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from app.errors import ConfigurationError
from app.settings import WebSettings
from app.telemetry.metrics.otlp import FLUSH_SECONDS, pushed
from app.telemetry.observers import exported, make_observers
from app.telemetry.resource import otlp_wanted, service_resource
from tests.harness.otlp_receiver import OtlpReceiver, attributes, metrics_of
from tests.harness.service import Web, environment
from tests.harness.sqs_stand_in import SqsStandIn

HOUR = "3600000"


@pytest.fixture
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


def web(sqs: SqsStandIn, **otel: str) -> Web:
    ours = {f"OTEL_{name.upper()}": value for name, value in otel.items()}
    return Web(environment(sqs.endpoint, sqs.queue_url, drain_delay=0) | ours)


def queued(request: ExportMetricsServiceRequest) -> bool:
    """Returns whether a webhook has been counted as queued, with a duration. Both are read one after the other."""
    metrics = metrics_of(request)
    points = metrics["invoice_webhook.webhooks"].sum.data_points
    counted = any(attributes(point.attributes) == {"outcome": "queued"} and point.as_int == 1 for point in points)
    return counted and any(point.count for point in metrics["http.server.request.duration"].histogram.data_points)


def test_a_collector_receives_the_metrics(sqs: SqsStandIn, event: bytes) -> None:
    """The collector gets all kinds of metrics with OpenTelemetry's names, and OTEL_…'s resource; no port is open."""
    named = {"service_name": "shop", "resource_attributes": "deployment.environment.name=test"}
    with (
        OtlpReceiver(ExportMetricsServiceRequest) as receiver,
        web(sqs, exporter_otlp_endpoint=receiver.endpoint, metric_export_interval="50", **named) as service,
    ):
        assert service.post(event).status_code == 200
        request = receiver.wait_for(queued)
        assert not any("Metrics on" in line["message"] for line in service.lines)
    assert set(receiver.paths) == {"/v1/metrics"}
    resource = attributes(request.resource_metrics[0].resource.attributes)
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("shop", "test")
    metrics = metrics_of(request)
    outcomes = metrics["invoice_webhook.webhooks"].sum
    assert (outcomes.is_monotonic, outcomes.aggregation_temporality) == (True, 2)  # cumulative
    assert metrics["thread_tokens.limit"].gauge.data_points[0].as_int == 40
    durations = metrics["http.server.request.duration"]
    assert durations.unit == "s"
    (point,) = [point for point in durations.histogram.data_points if point.count]
    assert attributes(point.attributes) == {
        "http.request.method": "POST",
        "http.route": "/webhooks/chargebee",
        "http.response.status_code": 200,
    }
    assert (sum(point.bucket_counts), len(point.bucket_counts)) == (1, len(point.explicit_bounds) + 1)
    assert point.start_time_unix_nano < point.time_unix_nano


def test_the_last_push(sqs: SqsStandIn, event: bytes) -> None:
    """A process that ends before the first interval is over still pushes; the exporter's compression works."""
    with (
        OtlpReceiver(ExportMetricsServiceRequest) as receiver,
        web(
            sqs,
            exporter_otlp_metrics_endpoint=f"{receiver.endpoint}/own/path",
            metric_export_interval=HOUR,
            exporter_otlp_compression="gzip",
        ) as service,
    ):
        assert service.post(event).status_code == 200
        assert service.stop() == 0
        assert queued(receiver.wait_for(queued))
    assert receiver.paths == ["/own/path"]


@pytest.mark.slow
@pytest.mark.parametrize("held", [True, False], ids=["silent", "down"])
def test_a_collector_that_is_gone(sqs: SqsStandIn, event: bytes, held: bool) -> None:
    """The collector delays no webhook, and the end of the process by at most FLUSH_SECONDS."""
    with OtlpReceiver(ExportMetricsServiceRequest, held=held) as receiver:
        endpoint = receiver.endpoint if held else "http://127.0.0.1:9"
        # The exporter itself would wait for a minute, which is longer than the margin below.
        patient = {"exporter_otlp_endpoint": endpoint, "exporter_otlp_timeout": "60"}
        with web(sqs, metric_export_interval="10", **patient) as service:
            if held:
                receiver.wait_for(lambda request: True)
            assert service.post(event).status_code == 200
            began = time.monotonic()
            assert service.stop(signal.SIGINT) == 0
            assert time.monotonic() - began < FLUSH_SECONDS + 20


@pytest.mark.parametrize("interval", ["0", "-1", "soon", "1.5"])
def test_a_wrong_interval(monkeypatch: pytest.MonkeyPatch, interval: str) -> None:
    """The process does not start, and prints one line."""
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", interval)
    with (
        pytest.raises(ConfigurationError, match=f"OTEL_METRIC_EXPORT_INTERVAL={interval}: allowed are 1 or more"),
        pushed([], service_resource(), "1.0.0"),
    ):
        pass


def test_when_it_is_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint, for all signals or for this one, switches OTLP on; the SDK's two switches turn it off."""
    assert not otlp_wanted("METRICS")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4318/v1/metrics")
    assert otlp_wanted("METRICS")
    assert not otlp_wanted("TRACES")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "")  # counts as not set
    assert otlp_wanted("METRICS")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    assert not otlp_wanted("METRICS")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    assert otlp_wanted("TRACES")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not otlp_wanted("TRACES")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json", "http/protobuf"),
        ("OTEL_METRICS_EXPORTER", "prometheus", "otlp and none"),
    ],
)
def test_what_would_be_ignored(monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str) -> None:
    """Another protocol or exporter stops the start, unless nothing is exported."""
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")
    with pytest.raises(ConfigurationError, match=f"{name}={value}: allowed (is|are) {allowed}"):
        make_observers(WebSettings(), "POST", "/")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert make_observers(WebSettings(), "POST", "/").metrics is None


def test_a_credential_provider_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter's RuntimeError becomes an error of the configuration, which is one line."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4318/v1/metrics")
    monkeypatch.setenv("OTEL_PYTHON_EXPORTER_OTLP_HTTP_METRICS_CREDENTIAL_PROVIDER", "vault")
    observers = make_observers(WebSettings(), "POST", "/")
    with (
        pytest.raises(ConfigurationError, match=r"a variable OTEL_… is wrong: .*vault"),
        exported(observers, WebSettings()),
    ):
        pass


def test_the_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resource has the service's name unless the environment has one, and an id of the process."""
    assert service_resource().attributes["service.name"] == "invoice-webhook"
    assert service_resource().attributes["service.instance.id"]
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,service.instance.id=pod-1")
    assert service_resource().attributes["service.name"] == "shop"
    assert service_resource().attributes["service.instance.id"] == "pod-1"
