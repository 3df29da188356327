"""The body and the attributes of a dead letter."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.worker.dead_letters import MAX_DETAIL, dead_letter
from app.worker.one_by_one import redriven
from app.worker.received_message import ReceivedMessage


def _text(value: str) -> dict[str, Any]:
    return {"DataType": "String", "StringValue": value}


WEBHOOKS = {
    "event_id": _text("ev_1"),
    "event_type": _text("pending_invoice_created"),
    "api_version": _text("v2"),
    "received_at": _text("2026-01-02T03:04:05.678+00:00"),
    "traceparent": _text("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
}
NAMES = st.text("abcdefghij_", min_size=1, max_size=5)


def test_it_has_the_reason_beside_what_the_webhook_sent() -> None:
    received = ReceivedMessage("m", "r", "body", WEBHOOKS, receive_count=3)
    found = dead_letter(received, "invoice_not_found", "There is no invoice", "ev_1", fifo=False)
    ours = {"reason": "invoice_not_found", "detail": "There is no invoice", "receive_count": "3"}
    assert found["MessageBody"] == "body"
    assert found["MessageAttributes"] == WEBHOOKS | {name: _text(value) for name, value in ours.items()}


def test_an_event_without_attributes_is_named() -> None:
    """A message that a person has put into the queue has no attributes."""
    found = dead_letter(ReceivedMessage("m", "r", "{}", {}), "code", "detail", "ev_2", fifo=False)
    assert found["MessageAttributes"]["event_id"] == _text("ev_2")


@given(st.dictionaries(NAMES, st.text().map(_text), max_size=10), st.text(), st.text(), st.none() | st.just("ev"))
def test_sqs_takes_it(attributes: dict[str, Any], code: str, detail: str, event_id: str | None) -> None:
    """A dead letter has at most ten attributes, with the reason. Values are not empty and have XML characters."""
    found = dead_letter(ReceivedMessage("m", "r", "b", attributes), code, detail, event_id, fifo=True)
    sent = found["MessageAttributes"]
    assert len(sent) <= 10
    assert {"reason", "detail", "receive_count"} <= set(sent)
    for name in ("reason", "detail"):
        value = sent[name]["StringValue"]
        assert 0 < len(value) <= MAX_DETAIL
        assert not any(character < " " or character in "\ufffe\uffff" for character in value)
        value.encode()


def test_the_events_id_is_kept_before_other_attributes() -> None:
    attributes = {f"foreign_{number}": _text("x") for number in range(9)} | {"event_id": _text("ev_3")}
    found = dead_letter(ReceivedMessage("m", "r", "b", attributes), "code", "detail", None, fifo=False)
    assert found["MessageAttributes"]["event_id"] == _text("ev_3")
    assert len(found["MessageAttributes"]) == 10


def test_on_a_fifo_queue_it_stays_in_its_group() -> None:
    """SQS drops a repetition within five minutes, because it has the same deduplication id."""
    found = dead_letter(ReceivedMessage("m-1", "r", "b", {}, group="customer"), "code", "detail", None, fifo=True)
    assert (found["MessageGroupId"], found["MessageDeduplicationId"]) == ("customer", "m-1")


def test_a_redrive_gives_back_what_was_sent_at_first() -> None:
    dead = dead_letter(ReceivedMessage("m", "r", "body", WEBHOOKS), "code", "detail", "ev_1", fifo=False)
    again = redriven(ReceivedMessage("d", "r", dead["MessageBody"], dead["MessageAttributes"]), fifo=False)
    assert again == {"MessageBody": "body", "MessageAttributes": WEBHOOKS}
