"""A client may half-close its connection (shutdown) after its request, and still gets its response."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import pytest

from local.sample_events import fresh_events
from tests.harness.raw import RawSender
from tests.harness.service import NO_CAS, Service
from tests.harness.sqs_stand_in import SqsStandIn

PROBE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
BOUND = 20
pytestmark = pytest.mark.usefixtures("held")


@pytest.fixture(scope="module")
def service(stand_in: SqsStandIn) -> Iterator[Service]:
    limits = {"max_connections": BOUND, "sqs_timeout": 60, "max_wait": 0, "body_timeout": 60}
    with Service(stand_in.endpoint, stand_in.queue_url, **limits) as service:
        yield service


def wait_until_noticed(service: Service) -> None:
    """Returns when a later probe is answered, so that the event loop has read everything that was sent earlier."""
    for _ in range(2):
        assert httpx.get(f"{service.url}/healthz", verify=NO_CAS, timeout=60).status_code == 200


def eventually(condition: Callable[[], bool]) -> None:
    """Returns when `condition` is true."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)  # between two checks


def test_the_answer_to_a_complete_request(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """The client gets 200 when SQS has the message, and then the connection is closed."""
    with RawSender(service.address) as sender:
        sender.head(f"Content-Length: {len(event)}", body=event)
        sender.half_close()
        stand_in.wait_for("SendMessageBatch", 1)
        wait_until_noticed(service)
        stand_in.release()
        assert sender.answer().startswith(b"HTTP/1.1 200 ")
        assert sender.closed()


def test_a_body_that_is_not_complete(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """A half-close in the middle of a body is treated like a disconnect: no response, and no message in the queue."""
    with RawSender(service.address) as sender:
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        sender.wait_until_read()
        sender.send(event[:-1])
        sender.half_close()
        assert sender.rest() == b""
    stand_in.release()
    assert service.post(event).status_code == 200
    assert len(stand_in.messages) == 1


@pytest.mark.parametrize("unfinished", [b"", b"GET /heal"], ids=["idle", "head"])
def test_no_request(service: Service, unfinished: bytes) -> None:
    """A half-closed connection without a complete request is closed at once, with or without earlier requests."""
    for before in (b"", PROBE):
        with RawSender(service.address) as sender:
            if before:
                sender.send(before)
                assert sender.answer().startswith(b"HTTP/1.1 200 ")
            sender.send(unfinished)
            sender.half_close()
            assert sender.rest() == b""


def answers_to(event: bytes, behind: bytes, service: Service, stand_in: SqsStandIn) -> bytes:
    """Sends a webhook and the bytes `behind` it, half-closes the connection, and returns the received bytes."""
    with RawSender(service.address) as sender:
        sender.head(f"Content-Length: {len(event)}", body=event + behind)
        sender.half_close()
        stand_in.wait_for("SendMessageBatch", 1)
        wait_until_noticed(service)
        stand_in.release()
        return sender.rest()


def test_a_request_behind_another(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """Two pipelined requests are answered in their order before the connection is closed."""
    answers = answers_to(event, PROBE, service, stand_in)
    assert answers.count(b"HTTP/1.1 200 ") == 2
    assert answers.endswith(b'{"status":"alive"}')


def test_an_unfinished_request_behind_another(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """The complete request is answered. The incomplete request is not enqueued, but may get a 401 for its head."""
    unfinished = b"POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
    answers = answers_to(event, unfinished, service, stand_in)
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert answers.count(b"HTTP/1.1 200 ") == 1
    assert len(stand_in.messages) == 1


def test_they_make_room(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """At APP_MAX_CONNECTIONS, a new connection replaces the oldest half-closed one, whose webhook is still sent."""
    with ExitStack() as stack:
        senders = []
        for body in fresh_events(event, 3 * BOUND):
            senders.append(stack.enter_context(RawSender(service.address)))
            senders[-1].head(f"Content-Length: {len(body)}", body=body)
            senders[-1].half_close()
        wait_until_noticed(service)
        assert service.connections() <= BOUND
        stand_in.release()
        answers = [sender.rest() for sender in senders]
    assert answers[0] == b""
    assert answers[-1].startswith(b"HTTP/1.1 200 ")
    eventually(lambda: len(stand_in.messages) == 3 * BOUND)


def test_clients_that_have_gone(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """If the clients have disconnected, each connection ends with its response, and no error is logged."""
    for body in fresh_events(event, BOUND // 2):
        with RawSender(service.address) as sender:
            sender.head(f"Content-Length: {len(body)}", body=body)
    stand_in.wait_for("SendMessageBatch", 4)
    wait_until_noticed(service)
    stand_in.release()
    eventually(lambda: service.connections() == 0)
    assert len(stand_in.messages) == BOUND // 2
    assert not [line for line in service.lines if "Traceback" in str(line)]
