"""The metrics of running services: each release is measured, and the metrics show its problem."""

import http.client
import json
import socket
import subprocess
import sys
import textwrap
from base64 import b64encode
from collections.abc import Iterator
from itertools import islice

import pytest

from app import __version__
from app.settings import NEWEST, Release
from local.sample_events import fresh_events
from tests.harness.scrape import Scrape, scrape, scrape_until
from tests.harness.service import PASSWORD, USER, Service, clean_environment, environment
from tests.harness.sqs_stand_in import Failure, SqsStandIn
from tests.web.test_lessons import loop_is_blocked, serving

SLOW_SECONDS = 0.1
CONTENT = {"Authorization": f"Basic {b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"}


@pytest.fixture
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


def outcomes(found: Scrape) -> dict[str, float]:
    """Returns the outcomes that have occurred."""
    return {
        dict(labels)["outcome"]: value
        for (name, labels), value in found.samples.items()
        if name == "invoice_webhook_webhooks_total" and value
    }


def test_every_release_is_measured(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """Webhooks are counted by outcome, and so are the calls to SQS."""
    with Service(sqs.endpoint, sqs.queue_url, release=release, metrics_port=0) as service:
        for body in islice(fresh_events(event, 3), 3):
            assert service.post(body).status_code == 200
        ignored = json.dumps(json.loads(event) | {"event_type": "customer_created"}).encode()
        assert service.post(ignored, auth=None).status_code == 401
        assert service.post(ignored).status_code == 200
        odd = ("invoice_webhook_unexpected_events_total", frozenset({("kind", "event_type")}))
        found = scrape_until(service, lambda found: sum(outcomes(found).values()) == 5 and odd in found.samples)
    assert outcomes(found) == {"queued": 3, "ignored": 1, "unauthorized": 1}
    assert found.value("invoice_webhook_unexpected_events_total", kind="event_type") == 1
    assert found.value("invoice_webhook_info", release=release.value, version=__version__) == 1
    assert found.value("http_server_active_requests") == found.value("invoice_webhook_buffered_bytes") == 0
    assert found.value("invoice_webhook_sqs_batch_size_messages_sum") == 3
    assert found.value("invoice_webhook_sqs_batch_bytes_sum") > 3 * len(event)
    grouped = release >= Release.V09_GROUP_COMMIT
    operation = "SendMessageBatch" if grouped else "SendMessage"
    labels = {"messaging_system": "aws_sqs", "messaging_operation_name": operation}
    assert found.value("messaging_client_operation_duration_seconds_count", **labels) == 3
    assert found.value("invoice_webhook_sqs_wait_seconds_count") == (3 if grouped else 0)


def test_failures_and_retries(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """Failures are counted by SQS's code, retries by attempts."""
    sqs.failing = lambda call: Failure(503, "ServiceUnavailable") if call.action.startswith("Send") else None
    with Service(sqs.endpoint, sqs.queue_url, release=release, metrics_port=0) as service:
        assert service.post(event).status_code == 503
        found = scrape_until(service, lambda found: bool(outcomes(found)))
    assert outcomes(found) == {"queue-unavailable": 1}
    assert found.value("invoice_webhook_sqs_failures_total", error_type="ServiceUnavailable") == 1
    sent = sum(call.action.startswith("Send") for call in sqs.calls)
    assert found.value("invoice_webhook_sqs_retries_total") == sent - 1 > 0


def test_webhooks_that_are_shed(sqs: SqsStandIn, event: bytes) -> None:
    """Webhooks that are answered before they reach the gate are counted as well."""
    sqs.hold("SendMessageBatch")
    with serving(sqs, event, NEWEST, metrics_port=0, max_in_flight=1) as (service, senders):
        senders.post(1)
        sqs.wait_for("SendMessageBatch", 1)
        found = scrape(service)
        assert found.value("http_server_active_requests") == 1
        assert found.value("invoice_webhook_buffered_bytes") > 0
        assert [service.post(event).status_code for _ in range(3)] == [503] * 3
        assert outcomes(scrape_until(service, lambda found: sum(outcomes(found).values()) == 3)) == {"overloaded": 3}


@pytest.mark.parametrize(
    "release", [Release.V02_BLOCKING, pytest.param(Release.V08_NATIVE_ASYNC, marks=pytest.mark.slow), NEWEST], ids=str
)
def test_a_slow_queue(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """v02's event loop is late by the time that SQS takes for 20 webhooks; with asynchronous clients it is not.

    For these SQS takes a second, so that even a machine that stops the process now and then delays the loop far less.
    """
    sqs.delay = SLOW_SECONDS if release is Release.V02_BLOCKING else 10 * SLOW_SECONDS
    webhooks = 20
    calls = webhooks * sqs.delay
    with serving(sqs, event, release, metrics_port=0) as (service, senders):
        senders.post(webhooks)
        found = scrape_until(service, lambda found: outcomes(found).get("queued") == webhooks)
        if release is Release.V02_BLOCKING:  # the last webhook is counted in the turn whose delay is measured after it
            late = "event_loop_delay_seconds_sum"
            found = scrape_until(service, lambda found: found.value(late) > 0.8 * calls)
    if release is Release.V02_BLOCKING:
        assert found.value("event_loop_delay_max_seconds") >= SLOW_SECONDS
    else:
        assert found.value("event_loop_delay_seconds_sum") < 0.5 * calls


def test_a_blocked_loop(sqs: SqsStandIn, event: bytes) -> None:
    """/metrics answers while v02's event loop is blocked, and shows a growing delay."""
    sqs.hold("SendMessage")
    with serving(sqs, event, Release.V02_BLOCKING, metrics_port=0) as (service, senders):
        senders.post(1)
        sqs.wait_for("SendMessage", 1)
        assert loop_is_blocked(service)
        first = scrape_until(service, lambda found: found.value("event_loop_delay_max_seconds") > 0.5)
        assert first.value("http_server_active_requests") == 1
        longer = first.value("event_loop_delay_max_seconds") + 0.5
        scrape_until(service, lambda found: found.value("event_loop_delay_max_seconds") > longer)


def test_tokens_that_are_waited_for(sqs: SqsStandIn, event: bytes) -> None:
    """v04 has 100 threads; further webhooks wait."""
    sqs.hold("SendMessage")
    with serving(sqs, event, Release.V04_MORE_TOKENS, metrics_port=0) as (service, senders):
        senders.post(100)
        sqs.wait_for("SendMessage", 100)
        senders.post(10)
        found = scrape_until(service, lambda found: found.value("thread_tokens_waiting") == 10)
    assert found.value("thread_tokens_limit") == found.value("thread_tokens_used") == 100


def test_odd_events_make_no_series(sqs: SqsStandIn, event: bytes, thorough: bool) -> None:
    """After 10,000 different event types, Prometheus has no more series than before."""
    types = 10_000 if thorough else 1000
    with Service(sqs.endpoint, sqs.queue_url, metrics_port=0) as service:
        before = set(scrape(service).samples)
        connection = http.client.HTTPConnection(*service.address, timeout=60)
        for number in range(types):
            odd = json.loads(event) | {"event_type": f"odd_{number}", "api_version": f"odd-{number}", "content": {}}
            connection.request("POST", "/webhooks/chargebee", json.dumps(odd), CONTENT)
            answer = connection.getresponse()
            assert (answer.status, answer.read()[:19]) == (200, b'{"status":"ignored"')
        connection.close()
        found = scrape_until(service, lambda found: outcomes(found).get("ignored") == types)
        assert set(found.samples) == before
        for kind in ("event_type", "api_version"):
            assert found.value("invoice_webhook_unexpected_events_total", kind=kind) == types


def test_without_metrics() -> None:
    """Modules that are switched off are not imported, so they cost neither memory nor time at the start."""
    script = """
        import sys
        from app.cli import web
        from app.settings import WebSettings
        from app.telemetry.observers import make_observers
        from app.web.main import create_app
        settings = WebSettings()
        create_app(settings, make_observers(settings, "POST", "/"))
        ours = ("opentelemetry.sdk", "opentelemetry.exporter", "prometheus_client", "app.telemetry.metrics.")
        print(*(name for name in sys.modules if name.startswith(ours)))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    ended = subprocess.run(command, env=clean_environment(), capture_output=True, encoding="utf-8", check=True)
    assert ended.stdout.split() == []  # (FastAPI imports OpenTelemetry's API.)


def test_a_port_that_is_taken(sqs: SqsStandIn) -> None:
    """The process does not start if it cannot serve the metrics."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = environment(sqs.endpoint, sqs.queue_url, metrics_port=taken.getsockname()[1])
        command = [sys.executable, "-m", "app", "web"]
        ended = subprocess.run(command, env=settings, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: APP_HOST=127.0.0.1, APP_METRICS_PORT=")
