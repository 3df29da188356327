"""Parsing events: generated input ends in an event or InvalidEvent, and in nothing else."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import FieldError, InvalidEvent
from app.events import Event, parse_event
from local.sample_events import SAMPLES

WANTED = frozenset({"pending_invoice_created"})
DEFAULT = (SAMPLES / "default.json").read_bytes()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)
FIELDS = st.sampled_from(sorted(json.loads(DEFAULT)))


@given(st.binary())
def test_any_bytes(body: bytes) -> None:
    """Arbitrary bytes raise InvalidEvent, and no other error."""
    with pytest.raises(InvalidEvent):
        parse_event(body, WANTED)


@given(JSON)
def test_any_json(value: Any) -> None:
    """An arbitrary JSON value raises InvalidEvent, and no other error."""
    with pytest.raises(InvalidEvent):
        parse_event(json.dumps(value).encode(), WANTED)


@given(FIELDS, JSON)
def test_any_value_in_any_field(field: str, value: Any) -> None:
    """If one field of a real event is replaced, the only possible error is InvalidEvent, which names that field."""
    body = json.dumps(json.loads(DEFAULT) | {field: value}).encode()
    errors: Sequence[FieldError] = []
    try:
        parse_event(body, WANTED)
    except InvalidEvent as error:
        errors = error.errors
    assert {one["loc"][0] for one in errors if one["loc"]} <= {field}


@given(st.dictionaries(st.text(), JSON))
def test_unknown_fields_change_nothing(extra: dict[str, Any]) -> None:
    """Chargebee may add fields to the event, to its content and to its invoice."""
    event = json.loads(DEFAULT)
    body = {**extra, **event, "content": {**extra, "invoice": {**extra, **event["content"]["invoice"]}}}
    optional = {"webhooks", "line_items"} & extra.keys()
    if not optional:
        assert parse_event(json.dumps(body).encode(), WANTED) == parse_event(DEFAULT, WANTED)


@given(st.integers(min_value=0, max_value=len(DEFAULT) - 1))
def test_every_truncation_is_refused(length: int) -> None:
    """An event cut short is never an event."""
    with pytest.raises(InvalidEvent):
        parse_event(DEFAULT[:length], WANTED)


@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*.json")), ids=lambda file: file.stem)
def test_the_samples(file: Any) -> None:
    """Every sample is an event; a retry is recognised by its `webhooks`."""
    event = parse_event(file.read_bytes(), WANTED)
    assert isinstance(event, Event)
    assert event.is_retry == ("retry" in file.stem)


def test_further_event_types() -> None:
    """An event type without an invoice can be processed as well; a pending invoice needs its invoice."""
    other = (SAMPLES / "customer_changed.json").read_bytes()
    assert isinstance(parse_event(other, frozenset({"customer_changed"})), Event)
    with pytest.raises(InvalidEvent, match="not a Chargebee event"):
        parse_event(other.replace(b'"customer_changed"', b'"pending_invoice_created"'), WANTED)


@pytest.mark.parametrize(("sent", "version"), [(7, 7), ("7", None), (None, None), (1.5, None), (True, None)])
def test_the_version_of_an_invoice(sent: Any, version: int | None) -> None:
    """A version that is no number is ignored: the webhook is accepted, but its invoice has no order."""
    body = json.loads(DEFAULT)
    body["content"]["invoice"]["resource_version"] = sent
    event = parse_event(json.dumps(body).encode(), WANTED)
    assert isinstance(event, Event)
    assert event.content.invoice is not None
    assert event.content.invoice.version == version
    assert not event.content.invoice.is_truncated


def test_the_sample_of_the_load_test_is_as_long_as_the_published_body() -> None:
    """The sample has 5,686 bytes, as published. The other samples have invoices of many kinds."""
    assert len(DEFAULT) == 5686
    pending = [json.loads(file.read_bytes()) for file in SAMPLES.glob("pending_invoice_created_*.json")]
    assert len(pending) == 10
    counts = {len(event["content"]["invoice"]["line_items"]) for event in pending}
    assert {0, 60} <= counts
    assert any(not file.read_bytes().isascii() for file in SAMPLES.glob("*.json"))
    assert any(name.startswith("cf_") for event in pending for name in event["content"]["invoice"])
