"""Prometheus' text: names, series, and the server's own port."""

import socket

import httpx
import pytest
from prometheus_client.openmetrics import parser as openmetrics

from app.errors import ConfigurationError
from app.settings import Settings
from app.telemetry.metrics.instruments import Counter, Description, Histogram, gauge
from app.telemetry.metrics.prometheus import prometheus_name, served
from app.telemetry.metrics.service import Metrics
from tests.harness.scrape import parsed
from tests.harness.service import NO_CAS


@pytest.mark.parametrize(
    ("name", "unit", "expected"),
    [
        ("http.server.request.duration", "s", "http_server_request_duration_seconds"),
        ("http.server.active_requests", "{request}", "http_server_active_requests"),
        ("invoice_webhook.buffered", "By", "invoice_webhook_buffered_bytes"),
        ("invoice_webhook.sqs.batch.bytes", "By", "invoice_webhook_sqs_batch_bytes"),
        ("invoice_webhook.sqs.batch.size", "{message}", "invoice_webhook_sqs_batch_size_messages"),
        ("event_loop.delay.max", "s", "event_loop_delay_max_seconds"),
    ],
)
def test_names(name: str, unit: str, expected: str) -> None:
    """OpenTelemetry's rules; a unit that ends the name is not repeated."""
    assert prometheus_name(Description("gauge", name, unit, "")) == expected


def test_the_text() -> None:
    """Each kind, with cumulative buckets; a metric without a point is absent."""
    counter = Counter("calls", "{call}", "Calls.", ("error.type",), (("x",),))
    histogram = Histogram("wait", "s", "Waits.", (0.5, 1.0), ("code",))
    for value in (0.1, 0.7, 7.0):
        histogram.series(200).observe(value)
    absent = Counter("absent", "", "None.", ("kind",))
    with served([counter, histogram, gauge("now", "", "Now.", lambda: 3), absent], "127.0.0.1", 0) as port:
        found = parsed(httpx.get(f"http://127.0.0.1:{port}/metrics", verify=NO_CAS, timeout=60).text)
    assert found.value("calls_total", error_type="x") == 0
    assert [found.value("wait_seconds_bucket", code="200", le=le) for le in ("0.5", "1.0", "+Inf")] == [1, 2, 3]
    assert (found.value("wait_seconds_count", code="200"), found.value("now")) == (3, 3)
    assert found.value("wait_seconds_sum", code="200") == pytest.approx(7.8)
    assert not any(name.startswith("absent") for name in found.names())


def test_open_metrics() -> None:
    """What a current Prometheus asks for; its parser is the stricter one."""
    metrics = Metrics(Settings(), "1.0.0", "POST", "/webhooks/chargebee")
    headers = {"Accept": "application/openmetrics-text; version=1.0.0"}
    with served(metrics.instruments, "127.0.0.1", 0) as port:
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics", headers=headers, verify=NO_CAS, timeout=60)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    found = openmetrics.text_string_to_metric_families(answer.text)  # type: ignore[no-untyped-call]  # of its package
    families = {family.name for family in found}
    assert {"invoice_webhook_info", "cpython_gc_pause_seconds", "process_cpu_time_seconds"} <= families


def test_ipv6() -> None:
    """An address of either family."""
    with served([gauge("now", "", "Now.", lambda: 3)], "::1", 0) as port:
        assert httpx.get(f"http://[::1]:{port}/metrics", verify=NO_CAS, timeout=60).status_code == 200


def test_a_port_that_is_taken() -> None:
    """One clear line, not a traceback."""
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ConfigurationError, match=rf"APP_METRICS_PORT={taken.getsockname()[1]}: cannot listen there"),
        served([], "127.0.0.1", taken.getsockname()[1]),
    ):
        pass


def test_no_address_of_this_machine() -> None:
    """The same for the host."""
    with pytest.raises(ConfigurationError, match="APP_METRICS_HOST=192"), served([], "192.0.2.1", 0):
        pass
