"""The event as v12 reads it, with msgspec: the same answer as pydantic's to every body."""

import json
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import events, lean_events
from app.errors import InvalidEvent
from app.events import Envelope, Invoice, LineItem, ParseEvent
from local.sample_events import SAMPLES
from tests.harness.json_kinds import ACCEPTED, NO_JSON, REFUSED, with_unread

DEFAULT = (SAMPLES / "default.json").read_bytes()
WANTED = frozenset({"pending_invoice_created"})
INVOICE = ("content", "invoice")
LINE = (*INVOICE, "line_items", 0)
Place = tuple[str | int, ...]
FIELDS: list[Place] = [
    (*place, name)
    for model, place in ((Envelope, ()), (Invoice, INVOICE), (LineItem, LINE))
    for name in (*model.model_fields, "unread")
] + [("content",), INVOICE, LINE, ("content", "unread")]
_MARK = "the value"


def outcome(parse: ParseEvent, body: bytes, wanted: frozenset[str]) -> tuple[Any, ...]:
    """Returns what the web process learns from a parser."""
    try:
        event = parse(body, wanted)
    except InvalidEvent as error:
        return str(error), error.errors
    fields = (event.id, event.event_type, event.api_version, event.occurred_at)
    return *fields, event.is_retry, event.customer_id, event.is_truncated


def compare(body: bytes) -> None:
    """Fails unless both parsers have the same answer to `body`, whether its type is wanted or not."""
    for wanted in (WANTED, frozenset({"customer_changed"})):
        assert outcome(lean_events.parse_event, body, wanted) == outcome(events.parse_event, body, wanted)


def with_value(place: Place, *values: bytes) -> bytes:
    """Returns the default event with this value at `place`. The field is there once for each value."""
    event = json.loads(DEFAULT)
    *parents, name = place
    parent = reduce(lambda found, step: found[step], parents, event)
    if isinstance(parent, dict):
        parent.pop(name, None)
        marks = {f"{_MARK}{number}": 0 for number in range(len(values))}
        parent.update(marks)
    else:
        parent[int(name)], marks = f"{_MARK}0", {}
    text = json.dumps(event).encode()
    for number, value in enumerate(values):
        mark = f"{_MARK}{number}".encode()
        text = text.replace(b'"%b": 0' % mark, b'"%b": %b' % (str(name).encode(), value)) if marks else text
        text = text.replace(b'"%b"' % mark, value)
    return text


@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*.json")), ids=lambda file: file.stem)
def test_the_samples(file: Any) -> None:
    """msgspec reads each sample, but the one with many brackets; its answers are pydantic's."""
    body = file.read_bytes()
    compare(body)
    assert (lean_events._read(body) is None) == (body.count(b"[") + body.count(b"{") > lean_events.MOST_BRACKETS)


@pytest.mark.parametrize("place", FIELDS, ids=str)
def test_kinds_of_json(place: Place) -> None:
    """Each kind of value, and of text that is no JSON, in each field."""
    for kind in (*ACCEPTED, *REFUSED):
        compare(with_value(place, kind))


def test_kinds_as_bodies() -> None:
    """Each kind as the body, and behind and before an event."""
    for kind in (*ACCEPTED, *REFUSED):
        for body in (kind, DEFAULT + kind, kind + DEFAULT, DEFAULT[:-1] + b"," + kind + b"}"):
            compare(body)


STRINGS = ["", "a", "event", "pending_invoice_created", "customer_changed", "new.type-1", ".", "..", ".a", "a.", "…"]
STRINGS += [
    text * size for text in ("a", "é", "😀", "-", ".") for size in (2, 3, 4, 19, 20, 21, 40, 41, 49, 50, 51, 100, 101)
]
STRINGS += [
    f"a{end}" for end in ("\n", "\r", " ", "\x00", "\x1f", "\x7f", "\x80", "\u2028", "\ufffe", "\uffff", "NaN", "é")
]
STRINGS += [f"{start}a" for start in ("\n", " ", "\x00", "é", "Infinity")]
NUMBERS = [
    0,
    1,
    -1,
    2**31,
    2**53,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    -(2**63),
    -(2**63) - 1,
    10**38,
    -(10**38),
    10**400,
]
EDGES = [
    *(json.dumps(text, ensure_ascii=ascii_only).encode() for text in STRINGS for ascii_only in (True, False)),
    *(str(number).encode() for number in NUMBERS),
    *(b"-0", b"1.0", b"1e2", b"10E-1", b"-1e-1", b"7" * 4300, b"7" * 4301, b"-" + b"7" * 4300, b"-" + b"7" * 4301),
    *(b"true", b"false", b"null", b"[]", b"{}", b"[null]", b"[[]]", b"[{}]", b"[1,2]", b'{"invoice":null}'),
    *(b'{"invoice":[]}', b'{"id":1}', b'"\\u0065vent"', b'"e\\u0076ent"', b'"\\ud83d\\ude00"', b"NaN", b"-Infinity"),
    *(b'"\\ud800"', b'"\\ud800\\ud800"', b'"\xed\xa0\x80"', b'"\xff"', b'"\\ufffe"', b'"\xef\xbf\xbe"'),
]


@pytest.mark.parametrize("place", FIELDS, ids=str)
def test_the_edges_of_each_constraint(place: Place) -> None:
    """Each field has each value at the edge of a constraint, alone, and before and behind a valid one; or is absent."""
    valid = _valid(place)
    for edge in EDGES:
        compare(with_value(place, edge))
        compare(with_value(place, edge, valid))
        compare(with_value(place, valid, edge))
    compare(with_value(place))


def _valid(place: Place) -> bytes:
    try:
        return json.dumps(reduce(lambda found, step: found[step], place, json.loads(DEFAULT))).encode()
    except KeyError:
        return b"1"


DEPTHS = [*range(1, 260), 300, 500, 700, *range(900, 1100, 10), 1500, 2000, 5000, 10_000, 50_000, 100_000]
NESTED: dict[str, Callable[[int], bytes]] = {
    "arrays": lambda depth: b"[" * depth + b"]" * depth,
    "objects": lambda depth: b'{"a":' * depth + b"1" + b"}" * depth,
    "objects in arrays": lambda depth: b'[{"a":' * depth + b"[]" + b"}]" * depth,
    "unclosed": lambda depth: b"[" * depth,
    "in a string": lambda depth: b'"%b"' % (b"[{" * depth),
    "side by side": lambda depth: b"[%b[]]" % (b"[]," * depth),
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("name", ["unread", "webhooks", "line_items_next_offset"])
def test_depths(kind: str, name: str) -> None:
    """Arrays and objects, one to 100,000 levels deep, in fields that are read in different ways."""
    place = (*INVOICE, name) if name.startswith("line") else (name,)
    for depth in DEPTHS:
        compare(with_value(place, NESTED[kind](depth)))


def test_each_truncation_and_each_changed_byte() -> None:
    """An event without its end, without one byte, and with a further or another byte at each place."""
    event = (SAMPLES / "pending_invoice_created_01_no_line_items.json").read_bytes()
    for place in range(len(event)):
        compare(event[:place])
        for byte in (b"", b'"', b"\\", b"\xff"):
            compare(event[:place] + byte + event[place + 1 :])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True, allow_infinity=True) | st.text(max_size=60),
    lambda children: st.lists(children, max_size=5) | st.dictionaries(st.text(max_size=10), children, max_size=5),
    max_leaves=10,
).map(lambda value: json.dumps(value).encode())
PIECES = st.sampled_from([*EDGES, *(kind for kind in (*ACCEPTED, *NO_JSON) if len(kind) < 100)]) | VALUES
CHANGES = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 3), PIECES | st.binary(max_size=4)), max_size=3)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """An event with up to three values in one of its fields, and a few pieces in place of some bytes."""
    body = with_value(draw(st.sampled_from(FIELDS)), *draw(st.lists(PIECES, max_size=3)))
    for at, taken, piece in draw(CHANGES):
        place = at % (len(body) + 1)
        body = body[:place] + piece + body[place + taken :]
    return body


@settings(max_examples=300)
@given(bodies() | st.binary() | VALUES | VALUES.map(lambda value: with_unread(DEFAULT, value)))
def test_any_body(body: bytes) -> None:
    """Generated bodies, most of them nearly an event."""
    compare(body)


def test_the_fields_are_pydantics() -> None:
    """Each field of msgspec's models is one of pydantic's, and no required one is missing."""
    for lean, full in (
        (lean_events.Event, events.Event),
        (lean_events.Invoice, events.Invoice),
        (lean_events.LineItem, events.LineItem),
        (lean_events.Content, events.Content),
    ):
        required = {name for name, field in full.model_fields.items() if field.is_required()}
        assert required <= set(lean.__struct_fields__) <= set(full.model_fields)
