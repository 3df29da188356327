"""No fault leaves cyclic garbage. With APP_GC=tuned, it would fill the memory before the garbage collector comes."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.harness.faulty_sqs import GOOD, Fault, acknowledging, close, cut, reset, whole
from tests.web.conftest import Stage

# Each fault as often at the same time, so that a cycle of any of them is found.
TIMES = 8


def error(status: str, code: str) -> Fault:
    return Fault(lambda ids: whole(status, {"__type": f"com.amazonaws.sqs#{code}"}))


def answered(ids: list[str], *headers: str) -> bytes:
    return whole("200 OK", acknowledging(ids), *headers)


def unannounced(ids: list[str]) -> bytes:
    """An answer that does not say how long it is."""
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
    """Neither connections nor errors are left in cycles."""
    stage.sqs.fault, statuses = OUTBOUND[name]
    with ThreadPoolExecutor(TIMES) as pool:
        found = set(pool.map(lambda _: stage.service.post(event).status_code, range(TIMES)))
    stage.sqs.fault = GOOD
    assert found <= statuses
    assert stage.garbage() == {}
