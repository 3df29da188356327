"""No fault leaves cyclic garbage, because the tuned garbage collector runs so rarely that garbage would fill memory."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.harness.raw import BASIC, RawSender
from tests.harness.sqs_stand_in import Fault, acknowledging, close, cut, reset, whole
from tests.web.conftest import Stage

# Each fault happens this many times at once, so that a reference cycle is found even if it does not occur every time.
TIMES = 8


def error(status: str, code: str) -> Fault:
    return Fault(lambda ids: whole(status, {"__type": f"com.amazonaws.sqs#{code}"}))


def answered(ids: list[str], *headers: str) -> bytes:
    return whole("200 OK", acknowledging(ids), *headers)


def unannounced(ids: list[str]) -> bytes:
    """Returns a response without Content-Length."""
    return b"HTTP/1.1 200 OK\r\n\r\n" + answered(ids).partition(b"\r\n\r\n")[2]


GIANT = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1_000_000
OUTBOUND = {
    "closed after the answer": (Fault(lambda ids: answered(ids, "Connection: close"), close), {200}),
    "ended by the connection": (Fault(unannounced, close), {200}),
    "closed without an answer": (Fault(lambda ids: b"", close), {503}),
    "closed below TLS": (Fault(lambda ids: b"HTTP/1.1 200", cut), {503}),
    "truncated": (Fault(lambda ids: answered(ids)[:-1], close), {503}),
    "reset": (Fault(lambda ids: b"HTTP/1.1 200", reset), {503}),
    "garbage": (Fault(lambda ids: b"garbage\r\n\r\n"), {503}),
    "two answers": (Fault(lambda ids: answered(ids) * 2), {200, 503}),
    "giant": (Fault(lambda ids: GIANT), {503}),
    "no JSON": (Fault(lambda ids: whole("200 OK", "x")), {503}),
    "404": (error("404 Not Found", "QueueDoesNotExist"), {503}),
    "500": (error("500 Internal Server Error", "InternalError"), {503}),
    "throttled": (error("400 Bad Request", "RequestThrottled"), {503}),
    "credentials expired": (error("400 Bad Request", "ExpiredToken"), {503}),
    "a batch refused": (error("400 Bad Request", "InvalidMessageContents"), {422}),
    "no entry acknowledged": (Fault(lambda ids: whole("200 OK", {"Successful": []})), {503}),
    "silent": (Fault(lambda ids: b""), {503}),
}


@pytest.mark.parametrize("name", OUTBOUND)
def test_a_fault_of_sqs(stage: Stage, event: bytes, name: str) -> None:
    """After a fault of SQS, neither connections nor errors remain in reference cycles."""
    stage.sqs.fault, statuses = OUTBOUND[name]
    with ThreadPoolExecutor(TIMES) as pool:
        found = set(pool.map(lambda _: stage.service.post(event).status_code, range(TIMES)))
    stage.sqs.fault = None
    assert found <= statuses
    assert stage.garbage() == {}


HEAD = f"POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\nAuthorization: {BASIC}\r\n"


def filled(data: bytes, event: bytes) -> bytes:
    """Returns `data` with `%b` replaced by the event, and `%d` by the event's length."""
    return data.replace(b"%d", b"%d" % len(event)).replace(b"%b", event)


def sent(data: bytes) -> Callable[[Stage, bytes], object]:
    """Returns a function that sends `data`, and returns the beginning of the response."""

    def send(stage: Stage, event: bytes) -> bytes:
        with RawSender(stage.service.address) as sender:
            sender.send(filled(data, event))
            return sender.answer()[:12]

    return send


def posted(body: bytes, **options: object) -> Callable[[Stage, bytes], object]:
    return lambda stage, event: stage.service.post(body or event, **options).status_code


def left(data: bytes) -> Callable[[Stage, bytes], object]:
    """Returns a function that sends `data`, and disconnects without waiting for a response."""

    def send(stage: Stage, event: bytes) -> None:
        with RawSender(stage.service.address) as sender:
            sender.send(filled(data, event))

    return send


WHOLE = f"{HEAD}Content-Length: %d\r\n\r\n%b".encode()
INBOUND = {
    "left before the head": (left(b""), None),
    "left in the head": (left(HEAD.encode()), None),
    "left in the body": (left(WHOLE[:-2] + b"{"), None),
    "left while SQS works": (left(WHOLE), None),
    "head too slow": (sent(HEAD.encode()), b"HTTP/1.1 408"),
    "body too slow": (sent(WHOLE[:-2] + b"{"), b"HTTP/1.1 408"),
    "malformed": (sent(b"garbage\r\n\r\n"), b"HTTP/1.1 400"),
    "no Host": (sent(b"GET / HTTP/1.1\r\n\r\n"), b"HTTP/1.1 400"),
    "head too large": (sent(b"GET / HTTP/1.1\r\nHost: x\r\nx: " + b"y" * 70_000), b"HTTP/1.1 400"),
    "pipelined": (sent(WHOLE * 4), b"HTTP/1.1 200"),
    "an upgrade": (sent(WHOLE.replace(b"Host", b"Connection: upgrade\r\nUpgrade: h2c\r\nHost")), b"HTTP/1.1 200"),
    "401": (posted(b"", auth=("no", "body")), 401),
    "404": (sent(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"), b"HTTP/1.1 404"),
    "413": (posted(b"x" * 300_000), 413),
    "415": (posted(b"", headers={"content-encoding": "gzip"}), 415),
    "422": (posted(b"{}"), 422),
}


@pytest.mark.parametrize("name", INBOUND)
def test_a_fault_of_a_client(stage: Stage, event: bytes, name: str) -> None:
    """After a fault of a client, neither connections nor requests remain in reference cycles."""
    send, answer = INBOUND[name]
    with ThreadPoolExecutor(TIMES) as pool:
        found = set(pool.map(lambda _: send(stage, event), range(TIMES)))
    assert found == {answer}
    assert stage.garbage() == {}
