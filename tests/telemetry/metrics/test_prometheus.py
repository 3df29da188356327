"""Prometheus' text format: names, series, and the server on its own port."""

import select
import socket
import threading
import time
from contextlib import ExitStack, suppress

import httpx
import pytest
from prometheus_client.openmetrics import parser as openmetrics

from app.errors import ConfigurationError
from app.settings import WebSettings
from app.telemetry.metrics import scrapes
from app.telemetry.metrics.instruments import Counter, Description, Histogram, gauge
from app.telemetry.metrics.prometheus import prometheus_name, served
from app.telemetry.observers import make_observers
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
    """Names follow OpenTelemetry's rules; a unit at the end of the name is not repeated."""
    assert prometheus_name(Description("gauge", name, unit, "")) == expected


def test_the_text() -> None:
    """The text has each kind of metric, with cumulative buckets; a metric without points is absent."""
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
    """A current Prometheus asks for this format, whose parser is the stricter one."""
    metrics = make_observers(WebSettings(metrics_port=0), "POST", "/webhooks/chargebee").metrics
    assert metrics is not None
    headers = {"Accept": "application/openmetrics-text; version=1.0.0"}
    with served(metrics.instruments, "127.0.0.1", 0) as port:
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics", headers=headers, verify=NO_CAS, timeout=60)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    found = openmetrics.text_string_to_metric_families(answer.text)  # type: ignore[no-untyped-call]  # of its package
    families = {family.name for family in found}
    assert {"invoice_webhook_info", "cpython_gc_pause_seconds", "process_cpu_time_seconds"} <= families


def test_ipv6() -> None:
    """The server listens on an IPv6 address, too."""
    with served([gauge("now", "", "Now.", lambda: 3)], "::1", 0) as port:
        assert httpx.get(f"http://[::1]:{port}/metrics", verify=NO_CAS, timeout=60).status_code == 200


def test_a_port_that_is_taken() -> None:
    """The error is one line, not a traceback."""
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ConfigurationError, match=rf"APP_METRICS_PORT={taken.getsockname()[1]}: cannot listen there"),
        served([], "127.0.0.1", taken.getsockname()[1]),
    ):
        pass


def test_no_address_of_this_machine() -> None:
    """The error for a wrong host is one line, too."""
    with pytest.raises(ConfigurationError, match="APP_HOST=192"), served([], "192.0.2.1", 0):
        pass


def test_connections_without_a_request_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """SCRAPES such connections take a thread each. The server closes further ones at once, long before the deadline."""
    monkeypatch.setattr(scrapes, "SECONDS", 300.0)
    with served([gauge("now", "", "Now.", lambda: 3)], "127.0.0.1", 0) as port, ExitStack() as stack:
        threads = threading.active_count()
        address = ("127.0.0.1", port)
        opened = [stack.enter_context(socket.create_connection(address, 60)) for _ in range(scrapes.SCRAPES + 20)]
        assert [connection.recv(1) for connection in opened[scrapes.SCRAPES :]] == [b""] * 20
        assert threading.active_count() <= threads + scrapes.SCRAPES
        assert select.select(opened[: scrapes.SCRAPES], [], [], 0)[0] == []  # the server still waits for their requests


@pytest.mark.slow
def test_connections_without_a_request_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """At their deadline, the server closes such connections, and answers scrapes again."""
    monkeypatch.setattr(scrapes, "SECONDS", 2.0)
    with served([gauge("now", "", "Now.", lambda: 3)], "127.0.0.1", 0) as port, ExitStack() as stack:
        address = ("127.0.0.1", port)
        opened = [stack.enter_context(socket.create_connection(address, 60)) for _ in range(scrapes.SCRAPES)]
        assert [connection.recv(1) for connection in opened] == [b""] * len(opened)
        while not is_scraped(port):  # the server may be about to close the last one
            time.sleep(0.01)


def test_a_connection_without_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server closes the connection, which then does not count towards the bound."""

    def no_thread(*args: object) -> None:
        raise RuntimeError("can't start new thread")

    with served([gauge("now", "", "Now.", lambda: 3)], "127.0.0.1", 0) as port:
        with monkeypatch.context() as without:
            without.setattr(threading.Thread, "start", no_thread)
            for _ in range(scrapes.SCRAPES + 1):
                with socket.create_connection(("127.0.0.1", port), 60) as connection:
                    assert connection.recv(1) == b""
        assert is_scraped(port)


def is_scraped(port: int) -> bool:
    """Returns whether the server answers a scrape."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/metrics", verify=NO_CAS, timeout=60).is_success
    except httpx.TransportError:  # closed, or reset if the request was there already
        return False


def test_a_request_that_drips(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server cuts it off, because the deadline applies to the whole scrape, not to each byte."""
    monkeypatch.setattr(scrapes, "SECONDS", 1.0)
    with (
        served([], "127.0.0.1", 0) as port,
        socket.create_connection(("127.0.0.1", port), 60) as connection,
        suppress(ConnectionError),  # by the server: what ends this loop
    ):
        while True:
            connection.sendall(b"G")
            time.sleep(0.01)
