"""Stops a real process: draining, requests in flight, signals. Under load, no connection is reset. Exit code 0."""

import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from app.server.listener import drop_new
from app.settings import Release
from loadtest.stage.queues import QueueProcess
from tests.harness import queues
from tests.harness.load import SENT_TOO_LATE, Load, can_drop_new
from tests.harness.raw import RawSender
from tests.harness.service import ASGI, CALLBACKS, Service, Web, environment
from tests.harness.sqs_stand_in import SqsStandIn

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

SENDERS = 100
BOTH_SERVERS = pytest.mark.parametrize("served", [ASGI, CALLBACKS], ids=str)


@pytest.fixture
def stand_in() -> Iterator[SqsStandIn]:
    with SqsStandIn() as started:
        yield started


def test_sigterm_under_load(aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes) -> None:
    """Webhooks that arrive before the listener closes get 200 or 503, without resets if the kernel allows this."""
    with Service(aws.endpoint, queue_url, drain_delay=3, sqs_timeout=60) as service:
        load = Load(service.address, event)
        load.wait_for_answers(50)
        code = service.stop()
        load.join()
    assert code == 0
    allowed = {SENT_TOO_LATE} | (set() if can_drop_new() else {"ConnectionResetError"})
    assert set(load.seen) - allowed == {"200", "503"}
    assert len(queues.drain(sqs, queue_url)) == load.seen["200"]


@BOTH_SERVERS
def test_a_request_in_flight_is_finished(
    aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes, served: Release
) -> None:
    """A body that is incomplete at SIGTERM may still be completed, and is queued."""
    with (
        Service(aws.endpoint, queue_url, release=served, drain_delay=0) as service,
        RawSender(service.address) as sender,
    ):
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        sender.wait_until_read()
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Waiting for connections to close")
        sender.send(event)
        assert sender.answer().startswith(b"HTTP/1.1 200 ")
        assert service.process.wait(60) == 0
    assert [body for body, _ in queues.drain(sqs, queue_url)] == [event]


@BOTH_SERVERS
def test_while_draining(aws: QueueProcess, queue_url: str, event: bytes, served: Release) -> None:
    """While draining, readyz responds 503, webhooks get 503 with `Connection: close`, and healthz responds 200."""
    with Service(aws.endpoint, queue_url, release=served, drain_delay=300) as service:
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Draining")
        with service.client() as client:
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").status_code == 200
            refused = client.post("/webhooks/chargebee", content=event)
        assert refused.status_code == 503
        assert refused.headers["connection"] == "close"
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) >= 1


@BOTH_SERVERS
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(
    aws: QueueProcess, queue_url: str, event: bytes, second: signal.Signals, served: Release
) -> None:
    """The process waits neither for the drain delay nor for a request in flight."""
    patient = {"release": served, "drain_delay": 300, "graceful_timeout": 300}
    with Service(aws.endpoint, queue_url, **patient) as service, RawSender(service.address) as sender:
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        sender.wait_until_read()
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Draining")
        assert service.stop(second) == 0
    assert not [line for line in service.lines if "Traceback" in str(line)]


@BOTH_SERVERS
def test_a_second_signal_while_sqs_works(stand_in: SqsStandIn, event: bytes, served: Release) -> None:
    """The process does not wait for the call to SQS either."""
    stand_in.hold("SendMessageBatch")
    patient = {"release": served, "drain_delay": 300, "graceful_timeout": 300, "sqs_timeout": 60}
    with (
        Service(stand_in.endpoint, stand_in.queue_url, **patient) as service,
        RawSender(service.address) as sender,
    ):
        sender.head(f"Content-Length: {len(event)}", body=event)
        stand_in.wait_for("SendMessageBatch", 1)
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Draining")
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(30) == 0  # half of `sqs_timeout`


@BOTH_SERVERS
def test_past_the_graceful_timeout(aws: QueueProcess, queue_url: str, event: bytes, served: Release) -> None:
    """A webhook that is incomplete when APP_GRACEFUL_TIMEOUT ends gets 503 like other webhooks, not uvicorn's 500."""
    with (
        Service(aws.endpoint, queue_url, release=served, drain_delay=0, graceful_timeout=1) as service,
        RawSender(service.address) as sender,
    ):
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        sender.wait_until_read()
        service.process.send_signal(signal.SIGTERM)
        answer = sender.answer()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after" in answer.lower()
        assert service.process.wait(60) == 0


def test_a_complete_webhook_past_the_graceful_timeout(stand_in: SqsStandIn, event: bytes) -> None:
    """The webhook gets 503. Over ASGI, its task ends before the process, because it does not wait for more body."""
    stand_in.hold("SendMessageBatch")
    limits = {"drain_delay": 0, "graceful_timeout": 1, "sqs_timeout": 4}
    with (
        Service(stand_in.endpoint, stand_in.queue_url, release=ASGI, **limits) as service,
        RawSender(service.address) as sender,
    ):
        sender.head(f"Content-Length: {len(event)}", body=event)
        stand_in.wait_for("SendMessageBatch", 1)
        service.process.send_signal(signal.SIGTERM)
        assert sender.answer().startswith(b"HTTP/1.1 503 ")
        assert service.process.wait(60) == 0
    assert [line["exception"] for line in service.lines if "exception" in line] == []


@BOTH_SERVERS
def test_ctrl_c_does_not_wait_for_load_balancers(aws: QueueProcess, queue_url: str, served: Release) -> None:
    """SIGINT comes from a person at a terminal, so there is no drain delay."""
    with Service(aws.endpoint, queue_url, release=served, drain_delay=300) as service:
        assert service.stop(signal.SIGINT) == 0


def test_stops_with_new_connections(stand_in: SqsStandIn, event: bytes, thorough: bool) -> None:
    """Every sender that is connected when the listener closes gets its response. test-all repeats this three times."""
    for _ in range(3 if thorough else 1):
        with Service(stand_in.endpoint, stand_in.queue_url, drain_delay=0) as service:
            load = Load(service.address, event, SENDERS, keep_alive=False)
            load.wait_for_answers(2 * SENDERS)
            code = service.stop()
            load.join()
        assert code == 0
        allowed = {"200", "503", SENT_TOO_LATE} | (set() if can_drop_new() else {"ConnectionResetError"})
        assert set(load.seen) <= allowed


def test_the_filter_drops_syns_alone() -> None:
    """The filter drops new connections. A connection in the accept queue is still accepted, and its data arrives."""
    if not can_drop_new():
        pytest.skip("this kernel does not let this user filter a listener")
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as early,
    ):
        drop_new(listening)
        with pytest.raises(TimeoutError):
            socket.create_connection(listening.getsockname(), timeout=0.5)
        accepted, _ = listening.accept()
        with accepted:
            early.sendall(b"hello")
            assert accepted.recv(5) == b"hello"


@BOTH_SERVERS
@pytest.mark.parametrize("other", [signal.SIGHUP, signal.SIGWINCH], ids=lambda sig: sig.name)
def test_other_signals_are_no_second_one(
    stand_in: SqsStandIn, event: bytes, other: signal.Signals, served: Release
) -> None:
    """SIGHUP and SIGWINCH during the drain do not shorten it."""
    with Service(stand_in.endpoint, stand_in.queue_url, release=served, drain_delay=300) as service:
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Draining")
        service.process.send_signal(other)
        assert [service.post(event).status_code for _ in range(3)] == [503] * 3
        assert not any("Second signal" in line["message"] for line in service.lines)


@pytest.fixture
def heed_hangups() -> Iterator[None]:
    """Makes processes handle SIGHUP, even if the tests themselves run under nohup, which ignores it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@BOTH_SERVERS
@pytest.mark.usefixtures("heed_hangups")
def test_a_terminal_that_closes(stand_in: SqsStandIn, event: bytes, served: Release) -> None:
    """SIGHUP as the first signal stops the process like Ctrl-C: requests in flight are finished."""
    stand_in.hold("SendMessageBatch")
    with Service(stand_in.endpoint, stand_in.queue_url, release=served, drain_delay=300) as service:
        load = threading.Thread(target=lambda: statuses.append(service.post(event).status_code))
        statuses: list[int] = []
        load.start()
        stand_in.wait_for("SendMessageBatch", 1)
        service.process.send_signal(signal.SIGHUP)
        service.wait_for("Draining")
        stand_in.release()
        load.join(30)
        assert service.process.wait(30) == 0
    assert statuses == [200]


@BOTH_SERVERS
def test_nohup(stand_in: SqsStandIn, event: bytes, served: Release) -> None:
    """A service that was started with SIGHUP ignored, as by nohup, ignores SIGHUP."""
    command = ["bash", "-c", "trap '' HUP && exec \"$@\"", "bash", sys.executable, "-m", "app", "web"]
    with Web(
        environment(stand_in.endpoint, stand_in.queue_url, release=served, drain_delay=0.1), command=command
    ) as service:
        service.process.send_signal(signal.SIGHUP)
        assert service.post(event).status_code == 200
        assert service.stop() == 0
    assert [line["message"] for line in service.lines if "Draining" in line["message"]] == ["Draining for 0.1 s"]
