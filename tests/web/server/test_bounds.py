"""Bounds on the memory that a client without credentials can use."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from loadtest.stage.queues import QueueProcess
from tests.harness.raw import RawSender
from tests.harness.service import Service

MIB = 1024 * 1024
MANY = 4000
# The allowed growth of memory: far more than one connection may use, and far less than the sent bytes.
NOISE = 8 * MIB


@pytest.fixture(scope="module")
def service(aws: QueueProcess) -> Iterator[Service]:
    with Service(aws.endpoint, f"{aws.endpoint}/000000000000/bounds") as service:
        yield service


def unknown_sender(service: Service, *headers: str) -> RawSender:
    sender = RawSender(service.address)
    sender.head(*headers, authorization="Basic bm86bm8=")
    return sender


@pytest.mark.parametrize("trailer", [b"X-%d: " % 1 + b"y" * 8000 + b"\r\n", b"x" * 8000], ids=["many", "one"])
def test_endless_trailers(service: Service, trailer: bytes) -> None:
    """The service does not store trailers, and closes the connection after about 64 KiB of them."""
    with unknown_sender(service, "Transfer-Encoding: chunked") as sender:
        assert sender.answer().startswith(b"HTTP/1.1 401 ")
        before = service.memory()
        sender.send(b"1\r\nx\r\n0\r\n")
        taken = sender.send_until_refused(trailer, 40 * MIB)
    assert taken < 40 * MIB
    assert service.memory() - before < NOISE
    assert not [line for line in service.lines if "Traceback" in str(line)]


def test_endless_chunk_extensions(service: Service) -> None:
    """The service closes the connection after about 64 KiB of chunk extensions, as after 64 KiB of trailers."""
    with unknown_sender(service, "Transfer-Encoding: chunked") as sender:
        assert sender.answer().startswith(b"HTTP/1.1 401 ")
        sender.send(b"1;")
        assert sender.send_until_refused(b"x" * 8000, 40 * MIB) < 40 * MIB
    assert not [line for line in service.lines if "Traceback" in str(line)]


@pytest.mark.parametrize("size", [70_000, 120_000, 1_000_000])
@pytest.mark.parametrize("headers", [1, 50])
def test_a_head_that_is_too_long_in_one_piece(service: Service, size: int, headers: int) -> None:
    """A head that is too large gets 400, in one piece or in many pieces."""
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"y" * (size // headers)) for number in range(headers))
    head = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n"
    for piece in (len(head), 4096):
        with RawSender(service.address) as sender:
            with suppress(OSError):  # the service may refuse the head before its end
                for start in range(0, len(head), piece):
                    sender.send(head[start : start + piece])
            assert sender.rest()[:13] in (b"HTTP/1.1 400 ", b"")  # a reset may overtake the answer


def test_a_head_of_60_kb(service: Service) -> None:
    """The service accepts a head of 60 kB."""
    with RawSender(service.address) as sender:
        sender.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n" % (b"y" * 60_000))
        assert sender.answer().startswith(b"HTTP/1.1 200 ")


def test_too_many_headers(service: Service) -> None:
    """A hundred headers are allowed, and a hundred and one headers get 400."""
    for number, status in ((99, b"200"), (100, b"400")):
        with RawSender(service.address) as sender:
            sender.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"x: y\r\n" * (number - 1))
            sender.send(b"Connection: close\r\n\r\n")
            assert sender.rest().startswith(b"HTTP/1.1 %s " % status)


def test_requests_ahead_of_their_answers(service: Service) -> None:
    """Thousands of pipelined requests, on fifty connections, do not accumulate in memory."""
    requests = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 7000
    before = service.memory()
    with ExitStack() as stack:
        senders = [stack.enter_context(RawSender(service.address)) for _ in range(50)]
        for sender in senders:
            sender.send_until_refused(requests, len(requests))
        assert senders[-1].answer().startswith(b"HTTP/1.1 200 ")
        assert service.memory() - before < 4 * NOISE


@pytest.mark.parametrize(
    ("head", "end", "body"), [(60_000, b"", 0), (60_000, b"\r\n", 0), (1_000, b"\r\n", 200_000)], ids=str
)
def test_many_senders_at_once(service: Service, event: bytes, head: int, end: bytes, body: int) -> None:
    """The service drops 4,000 large heads, or large bodies in one loop iteration, and still answers a webhook."""
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 980) for number in range(head // 1000))
    start = b"POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\nContent-Length: 240000\r\n" + lines + end
    before = service.memory()
    with ExitStack() as stack:
        senders = [stack.enter_context(socket.create_connection(service.address)) for _ in range(MANY)]
        for sender in senders:
            sender.setblocking(False)
            with suppress(OSError):  # the sender's buffer is full, or the service has closed the connection
                sender.send(start + b"z" * body)
        assert service.post(event, timeout=200).status_code in (200, 503)  # there is no queue of that name
        assert service.memory() - before < MANY * 40_000


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/healthz", "/nowhere"])
def test_bodies_without_a_reader_are_discarded(service: Service, path: str) -> None:
    """An idle connection does not keep the bodies of its earlier requests in memory."""
    body = b"z" * 50_000
    request = b"GET %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(body)) + body
    before = service.memory()
    with ExitStack() as stack:
        for _ in range(MANY):
            sender = stack.enter_context(RawSender(service.address))
            sender.send(request)
            sender.answer()
        assert service.memory() - before < MANY * 30_000


def test_large_heads_ahead_of_their_answers(service: Service) -> None:
    """The service may refuse a large head that arrives before the previous request has been answered.

    If the first request arrives alone, it is answered before the other requests arrive, so all three may get 200.
    """
    large = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n" % (b"y" * 20_000)
    with RawSender(service.address) as sender:
        sender.send(large + large + large.replace(b"X:", b"Connection: close\r\nX:"))
        assert sender.rest().count(b"HTTP/1.1 200 ") in (1, 2, 3)
    with RawSender(service.address) as sender:
        for _ in range(3):
            sender.send(large)
            assert sender.answer().startswith(b"HTTP/1.1 200 ")


def test_a_long_target(service: Service) -> None:
    """A target with more than 8 KiB or 100 escapes gets 400. A 404 repeats only a part of the target."""
    with RawSender(service.address) as sender:
        sender.send(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"%00" * 100 + b"y" * 7000))
        assert len(sender.answer()) < 2000
        sender.send(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"y?" + b"%" * 101))
        assert sender.answer().startswith(b"HTTP/1.1 404 ")
        sender.send(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"y" * 9000))
        assert sender.rest().startswith(b"HTTP/1.1 400 ")
    with RawSender(service.address) as sender:
        sender.send(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"%" * 101))
        assert sender.rest().startswith(b"HTTP/1.1 400 ")


def test_refusals_are_counted_in_the_log(aws: QueueProcess) -> None:
    """The log counts refusals instead of having a line for each, because any client can cause any number of them."""
    with Service(aws.endpoint, f"{aws.endpoint}/000000000000/bounds") as service:
        for _ in range(50):
            with RawSender(service.address) as sender:
                sender.send(b"rubbish\r\n\r\n")
                sender.rest()
        service.wait_for("requests refused: Invalid HTTP request received.")
        assert sum("Invalid HTTP request" in line["message"] for line in service.lines) < 50


@pytest.mark.slow
def test_unread_answers_end_their_connection(service: Service) -> None:
    """The service closes the connection of a sender that has not read its responses for LINGER_SECONDS."""
    with RawSender(service.address) as sender:
        taken = sender.send_until_refused(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 1000 * MIB)
    assert taken < 1000 * MIB
