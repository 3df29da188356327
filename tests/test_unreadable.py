"""Values that are JSON, but that pydantic's parser refuses: only a field that the service reads may not have them."""

import json
import time
import tracemalloc
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from app.errors import FieldError, InvalidEvent
from app.events import Envelope, Event, Invoice, LineItem, UnwantedEvent, parse_event, valid_id
from app.unreadable import readable
from local.sample_events import SAMPLES
from tests.harness.json_kinds import ACCEPTED, JSON, LEFT_TO_THE_PARSER, NO_JSON, REFUSED, TOO_DEEP, with_unread

WANTED = frozenset({"pending_invoice_created"})
DEFAULT = (SAMPLES / "default.json").read_bytes()
LONE, LONG = b'"\\ud800"', b"-" + b"7" * 4301
MARK = b'"the value"'
INVOICE = ("content", "invoice")
LINE = (*INVOICE, "line_items", 1)


def with_value(value: bytes, *path: str | int, body: bytes = DEFAULT) -> bytes:
    """Returns `body` with this value at `path`."""
    event = json.loads(body)
    *parents, name = path
    reduce(lambda parent, step: parent[step], parents, event)[name] = json.loads(MARK)
    return json.dumps(event).encode().replace(MARK, value)


def errors_of(body: bytes) -> list[FieldError]:
    with pytest.raises(InvalidEvent) as refused:
        parse_event(body, WANTED)
    return list(refused.value.errors)


@pytest.mark.parametrize("place", [(), ("content",), INVOICE, LINE], ids=str)
def test_a_field_that_is_not_read(place: tuple[str | int, ...]) -> None:
    """The event is the same whatever JSON the field has; it is refused if the body is no JSON, or nested too deeply."""
    event = parse_event(DEFAULT, WANTED)
    for kind in JSON + LEFT_TO_THE_PARSER[:-2]:
        assert parse_event(with_value(kind, *place, "unread"), WANTED) == event
    for kind in REFUSED:
        [error] = errors_of(with_value(kind, *place, "unread"))
        assert error["type"] == ("json_too_deep" if kind in TOO_DEEP else "json_invalid")


def test_the_deepest() -> None:
    """201 levels are accepted, also beside a value that pydantic's parser refuses."""
    for kind in LEFT_TO_THE_PARSER[-2:]:
        assert isinstance(parse_event(with_unread(DEFAULT, kind), WANTED), Event)


def test_the_kinds_are_of_their_kind() -> None:
    """Python's parser, which is another one, agrees about what is JSON."""

    def constant(name: str) -> None:
        raise ValueError(name)

    def is_json(kind: bytes) -> bool:
        try:
            json.loads(with_unread(DEFAULT, kind).decode(), parse_int=str, parse_constant=constant)
        except ValueError:
            return False
        return True

    assert [kind for kind in ACCEPTED if not is_json(kind)] == []
    assert [kind for kind in NO_JSON if is_json(kind)] == []


def _read(kind: type) -> list[tuple[str | int, ...]]:
    """Returns the paths of the required fields with values of this type."""
    event = json.loads(DEFAULT)
    models = ((Envelope, ()), (Invoice, INVOICE), (LineItem, LINE))
    return [
        (*place, name)
        for model, place in models
        for name, field in model.model_fields.items()
        if field.is_required() and type(reduce(lambda parent, step: parent[step], place, event)[name]) is kind
    ]


@pytest.mark.parametrize("path", _read(str), ids=str)
def test_a_lone_surrogate_in_a_field_that_is_read(path: tuple[str | int, ...]) -> None:
    """The error names the field and the reason. Such a text could be no attribute, no key of a table and no URL."""
    for text in (LONE, b'"ev_1 \\udfff"', b'"\\ud800\\ud800"'):
        [error] = errors_of(with_value(text, *path))
        assert (error["loc"], error["type"]) == (list(path), "lone_surrogate")
        assert "half of a surrogate pair" in error["msg"]


@pytest.mark.parametrize("path", _read(int), ids=str)
def test_a_long_number_in_a_field_that_is_read(path: tuple[str | int, ...]) -> None:
    """The error names the field and the reason."""
    [error] = errors_of(with_value(LONG, *path))
    assert (error["loc"], error["type"]) == (list(path), "long_number")
    assert error["msg"] == "The number has more than 4,300 digits"


@pytest.mark.parametrize("value", [LONE, LONG])
def test_an_optional_field(value: bytes) -> None:
    """The values count as any other invalid value."""
    found = {}
    for name in ("line_items_next_offset", "resource_version", "subscription_id"):
        event = parse_event(with_value(value, *INVOICE, name), WANTED)
        assert isinstance(event, Event)
        assert event.content.invoice is not None
        found[name] = event.content.invoice
    assert found["line_items_next_offset"].is_truncated
    assert found["resource_version"].version is None
    assert valid_id(found["subscription_id"].subscription_id) is None
    for path in (("webhooks",), ("content",), INVOICE, (*INVOICE, "line_items")):
        assert [error["loc"] for error in errors_of(with_value(value, *path))] == [list(path)]


def test_an_event_that_is_ignored() -> None:
    """Its content is any JSON object."""
    content = b'{"\\ud800": {"\\udfff": 1}, "invoice": {"id": "\\ud800", "tax": %b}}' % LONG
    event = parse_event(with_value(content, "content").replace(b"pending_invoice_created", b"new_type"), WANTED)
    assert isinstance(event, UnwantedEvent)


def test_positions_in_errors() -> None:
    """The error of a later byte has the position that the byte has in the body."""
    broken = with_unread(DEFAULT, '["é\\ud800", 7,]'.encode())
    assert errors_of(broken)[0]["msg"] == errors_of(broken.replace(b"d8", b"00"))[0]["msg"]


def _shuffled(parts: list[bytes], places: list[tuple[int, bytes]]) -> bytes:
    """Returns the parts as one text, with further text at some places in place of one byte."""
    text = b"".join(parts)
    for place, further in places:
        at = place % (len(text) + 1)
        text = text[:at] + further + text[at + 1 :]
    return text


PIECES = [
    *(b'"', b"\\", b"\\ud800", b"\\udc00", b"\\u00e9", b"\\n", "é".encode(), b"\xff", b"\n", b" "),
    *(b"[", b"]", b"{", b"}", b",", b":", b"1", b"-", b".", b"e", b"0", b"7" * 4301, b"null"),
]
WHOLE = [
    b'"\\ud800"',
    b'"a\\udfff"',
    b'"b"',
    b"7" * 4301,
    b"-" + b"7" * 4302 + b".5e1",
    b"0",
    b"null",
    b'{"\\ud800": 1}',
]
LISTS = st.lists(st.sampled_from(WHOLE)).map(lambda values: [b"[", b", ".join(values), b"]"])
TEXTS = st.builds(
    _shuffled,
    LISTS | st.lists(st.sampled_from(PIECES)),
    st.lists(st.tuples(st.integers(0, 200_000), st.sampled_from(PIECES)), max_size=2),
)


@settings(max_examples=500)
@given(TEXTS)
def test_no_text_becomes_json(text: bytes) -> None:
    """pydantic's parser accepts the readable text if, and only if, Python's parser accepts the text."""
    repaired = readable(text)
    assert len(repaired) == len(text)
    assert readable(repaired) == repaired
    accepted: dict[str, bool] = {}
    parsers: dict[str, Callable[[], Any]] = {
        "ours": lambda: from_json(repaired),
        "Python's": lambda: json.loads(text.decode(), parse_int=str),
    }
    for name, parse in parsers.items():
        try:
            parse()
            accepted[name] = True
        except ValueError:
            accepted[name] = False
    assert accepted["ours"] == accepted["Python's"]


@given(st.lists(st.sampled_from([*JSON, b'"\\ud83d\\ude00"', b'"\\\\ud800"'])))
def test_readable_text_is_unchanged(values: list[bytes]) -> None:
    """What pydantic's parser accepts has no replacement."""
    text = b"[" + b",".join(values) + b"]"
    assert readable(text) == text


SIZE = 1_000_000
HOSTILE = [
    *(b'"' * SIZE, b'"\\ud800"' + b'\\"' * (SIZE // 2), b'["\\ud800"' + b',""' * (SIZE // 3) + b"]", b"[" * SIZE),
    *(b"[" + b'"\\ud800",' * (SIZE // 9) + b"1]", b"{" + b'"\\ud800":1,' * (SIZE // 11), b'"\\ud800"' + b" " * SIZE),
    *(b"7" * SIZE, b"[" + (b"7" * 4300 + b",") * (SIZE // 4301), (b"7" * 4301 + b".") * (SIZE // 4302)),
    *((b"7" * 4301 + b"e") * (SIZE // 4302), b"-" * SIZE, b'"' + b"\\ud800" * (SIZE // 6), b'"\\ud800' * (SIZE // 7)),
]


@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: repr(body[:12] + body[-8:]))
def test_a_hostile_body(body: bytes) -> None:
    """A body of a megabyte takes less than 3 s of CPU time, so no step is quadratic, and at most 8 MB of memory."""
    began = time.thread_time()
    readable(body)
    assert time.thread_time() - began < 3
    tracemalloc.start()
    readable(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * SIZE
