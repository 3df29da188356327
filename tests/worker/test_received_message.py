"""A message in SQS's answer, and how long it has waited."""

import pytest

from app.worker.received_message import ReceivedMessage

SENT = 1_767_322_800.25
MESSAGE = {
    "MessageId": "m",
    "ReceiptHandle": "r",
    "Body": "b",
    "Attributes": {"ApproximateReceiveCount": "7", "SentTimestamp": "1767322800250", "MessageGroupId": "g"},
    "MessageAttributes": {"event_id": {"DataType": "String", "StringValue": "ev_1"}},
}


def test_it_has_what_sqs_says() -> None:
    received = ReceivedMessage.of(MESSAGE)
    assert (received.message_id, received.receipt_handle, received.body) == ("m", "r", "b")
    assert (received.receive_count, received.sent_at, received.group) == (7, SENT, "g")
    assert received.text("event_id") == "ev_1"
    assert received.text("missing") is None


def test_a_message_without_attributes() -> None:
    received = ReceivedMessage.of({"MessageId": "m", "ReceiptHandle": "r", "Body": "b"})
    assert (received.receive_count, received.sent_at, received.group) == (1, None, None)
    assert received.waited(SENT) is None


@pytest.mark.parametrize(
    ("received_at", "waited"),
    [
        ("2026-01-02T02:59:50.250+00:00", 15.0),
        ("2026-01-02T03:59:50.250+01:00", 15.0),
        ("2030-01-01T00:00:00+00:00", 0.0),  # by a clock that is ahead of ours
        ("2026-01-02T02:59:50.250", 5.0),  # of which zone?
        ("yesterday", 5.0),
        (None, 5.0),
    ],
)
def test_its_time_begins_with_the_webhook(received_at: str | None, waited: float) -> None:
    """Without `received_at`, the time begins with the send."""
    attributes = {} if received_at is None else {"received_at": {"StringValue": received_at}}
    received = ReceivedMessage("m", "r", "b", attributes, sent_at=SENT)
    assert received.waited(SENT + 5) == pytest.approx(waited)
