"""Tests how an event becomes an SQS message."""

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidEvent
from app.events import Event, parse_event
from app.sqs.message import to_message
from local.sample_events import SAMPLES

DEFAULT = (SAMPLES / "default.json").read_bytes()
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def event_of(body: bytes) -> Event:
    event = parse_event(body, frozenset({"pending_invoice_created", "customer_changed"}))
    assert isinstance(event, Event)
    return event


def test_a_message_for_a_standard_queue() -> None:
    """The message has the exact text and the attributes, and no ids for FIFO queues."""
    message = to_message(event_of(DEFAULT), DEFAULT, fifo=False, received_at=NOON)
    assert message.body.encode() == DEFAULT
    assert message.attributes["received_at"] == "2026-11-21T12:00:00.000+00:00"
    assert message.parameters().keys() == {"MessageBody", "MessageAttributes"}
    counted = sum(len(f"{name}String{value}".encode()) for name, value in message.attributes.items())
    assert message.size == len(DEFAULT) + counted


@given(st.text(min_size=1, max_size=50))
def test_the_group_of_any_customer(customer_id: str) -> None:
    """Any id of a customer gives a valid group id; the deduplication id is the event's id."""
    body = json.loads(DEFAULT)
    body["content"]["invoice"]["customer_id"] = customer_id
    raw = json.dumps(body, ensure_ascii=False).encode(errors="replace")
    parsed = event_of(json.dumps(json.loads(raw)).encode())
    message = to_message(parsed, raw, fifo=True) if not re.search("[\ufffe\uffff]", raw.decode()) else None
    if message is not None:
        assert message.group_id is not None
        assert re.fullmatch(r"[!-~]{1,128}", message.group_id)
        assert message.deduplication_id == parsed.id


def test_each_customer_is_a_group() -> None:
    """The group is the customer's id. If SQS does not accept this id, the same id always gives the same group."""

    def group(customer_id: str) -> str | None:
        body = json.loads(DEFAULT)
        body["content"]["invoice"]["customer_id"] = customer_id
        raw = json.dumps(body).encode()
        return to_message(event_of(raw), raw, fifo=True).group_id

    assert group("cus_1!~") == "cus_1!~"
    assert group("ü") == group("ü")
    assert len({group(customer_id) for customer_id in ("cus_1", "cus_2", "ü", "ö", "a b")}) == 5


def test_the_group_without_an_invoice() -> None:
    """An event without an invoice is a group of its own."""
    body = (SAMPLES / "customer_changed.json").read_bytes()
    message = to_message(event_of(body), body, fifo=True)
    assert message.group_id == message.deduplication_id == json.loads(body)["id"]


@pytest.mark.parametrize("character", ["\ufffe", "\uffff"])
def test_what_sqs_refuses(character: str) -> None:
    """The refusal says which character and where, and nothing else of the body."""
    body = DEFAULT[:-1] + f', "note": "{character}"}}'.encode()
    with pytest.raises(InvalidEvent) as refused:
        to_message(event_of(body), body, fifo=False)
    [error] = refused.value.errors
    assert f"U+{ord(character):04X}" in error["msg"]
