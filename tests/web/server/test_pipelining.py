"""Pipelining: a request arrives on a connection before the previous request has been answered."""

from collections.abc import Iterator

import pytest

from local.sample_events import fresh_events
from tests.harness.raw import BASIC, RawSender
from tests.harness.service import Service
from tests.harness.sqs_stand_in import SqsStandIn

TRACEPARENT = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
HEAD = "POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\n"
MALFORMED = f"{HEAD}Authorization: {BASIC}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".encode()
WITHOUT_CREDENTIALS = f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode()
pytestmark = pytest.mark.usefixtures("held")


@pytest.fixture(scope="module")
def service(stand_in: SqsStandIn) -> Iterator[Service]:
    with Service(stand_in.endpoint, stand_in.queue_url, sqs_timeout=60) as service:
        yield service


def webhook(body: bytes, *headers: str) -> bytes:
    lines = [f"{HEAD}Authorization: {BASIC}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def test_a_trace_belongs_to_one_webhook(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """Webhooks that follow a webhook with a traceparent on the same connection do not get its traceparent."""
    first, second, third = fresh_events(event, 3)
    with RawSender(service.address) as sender:
        sender.send(webhook(first, TRACEPARENT) + webhook(second))
        stand_in.wait_for("SendMessageBatch", 1)
        stand_in.release()
        assert [sender.answer()[:13] for _ in range(2)] == [b"HTTP/1.1 200 "] * 2
        sender.send(webhook(third))
        assert sender.answer().startswith(b"HTTP/1.1 200 ")
    entries = [entry for call in stand_in.calls for entry in call.data.get("Entries", [])]
    traced = {entry["MessageBody"]: "traceparent" in entry["MessageAttributes"] for entry in entries}
    assert traced == {first.decode(): True, second.decode(): False, third.decode(): False}


def test_a_malformed_body_behind_a_webhook(service: Service, stand_in: SqsStandIn, event: bytes) -> None:
    """The webhook gets 200, the malformed request gets 400, and the connection is closed."""
    with RawSender(service.address) as sender:
        sender.send(webhook(event) + MALFORMED)
        stand_in.wait_for("SendMessageBatch", 1)
        assert not sender.is_answered(within=0)
        stand_in.release()
        answers = sender.rest()
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400"]
    assert len(stand_in.messages) == 1


@pytest.mark.parametrize("request_line", ["POST /webhooks/chargebee", "POST /nowhere", "GET /healthz"])
def test_a_malformed_body_gets_one_answer(service: Service, request_line: str) -> None:
    """A request that was answered before its malformed body arrived gets no second response."""
    head = WITHOUT_CREDENTIALS.replace(b"POST /webhooks/chargebee", request_line.encode())
    with RawSender(service.address) as sender:
        sender.send(head)
        answer = sender.answer()
        sender.send(b"zz\r\n")
        assert sender.rest() == b""
    assert answer.startswith(
        {"POST /webhooks/chargebee": b"HTTP/1.1 401 ", "POST /nowhere": b"HTTP/1.1 404 "}.get(
            request_line, b"HTTP/1.1 200 "
        )
    )
