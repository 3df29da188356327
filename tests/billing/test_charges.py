"""Charges are made and recognised, for any text and any ids."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.billing.answers import FoundLine
from app.billing.charges import (
    KEY_LENGTH,
    Billable,
    between,
    billable_key,
    chargeable,
    idempotency_key,
    without,
)
from app.billing.line_items import ADHOC, LATEST_SECOND, Period, added
from app.billing.references import DESCRIPTION_LENGTH, charged, described
from app.errors import Unprocessable
from tests.billing.stage import item_of

IDS = st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="[]"), min_size=1, max_size=100)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
SECONDS = st.integers(0, 9_999_999_999)


class Line(FoundLine):
    date_from: int = 0
    date_to: int = 0
    entity_type: str = "plan_item_price"
    unit_amount: int = 1


# Descriptions as people write them, and such as imitate a reference.
DESCRIPTIONS = TEXTS | st.builds("{} [{}]".format, TEXTS, IDS) | st.builds("{} [billable:{}@0]".format, TEXTS, IDS)


def _on(billables: list[Billable], lines: list[Line], first: Sequence[Line] = ()) -> list[Billable]:
    return charged(billables, added(lines, first))


def _billable(name: str, text: str = "", at: int = 0) -> Billable:
    return Billable(name, 1, text, at)


@given(IDS, TEXTS)
def test_a_charge_is_recognised_by_any_description(name: str, text: str) -> None:
    """A long text is shortened, but the reference at its end is always complete."""
    billable = _billable(name, text)
    description = described(billable)
    assert len(description.encode("utf-16-le")) // 2 <= DESCRIPTION_LENGTH
    assert _on([billable], [Line(description=description, entity_type=ADHOC)]) == [billable]
    assert text.startswith(description.removesuffix(f" [billable:{name}@0]"))
    if len(text) <= 40:
        assert description == f"{text} [billable:{name}@0]"


@given(st.lists(DESCRIPTIONS, max_size=9), st.lists(IDS, unique=True, max_size=9))
def test_no_line_of_a_subscription_is_a_charge_of_ours(descriptions: list[str], names: list[str]) -> None:
    """The name of a plan does not matter, even if it has the whole reference of a reserved billable event."""
    billables = [_billable(name) for name in names]
    lines = [Line(description=text) for text in [*descriptions, *map(described, billables)]]
    assert _on(billables, lines) == []


@given(st.lists(IDS, unique=True, max_size=20), st.data())
def test_what_is_on_the_invoice_is_told_from_what_is_not(names: list[str], data: st.DataObject) -> None:
    """A charge is recognised even if its id is a part of another id, and beside ad-hoc lines of other people."""
    billables = [_billable(name, "text") for name in names]
    there = data.draw(st.sets(st.sampled_from(names))) if names else set()
    lines = [Line(description=described(one), entity_type=ADHOC) for one in billables if one.id in there]
    found = _on(billables, [Line(description="of Chargebee [sic] itself", entity_type=ADHOC), *lines])
    assert {one.id for one in found} == there
    assert {one.id for one in without(billables, found)} == set(names) - there


def test_a_line_of_the_event_is_no_charge_of_ours() -> None:
    """A line of the event existed before our charges, so it is no charge, even if it is an exact copy of one."""
    billable = _billable("b1", "text")
    exact = Line(description=described(billable), entity_type=ADHOC)
    assert _on([billable], [exact], [exact]) == []
    assert _on([billable], [exact.model_copy(update={"date_from": 5, "date_to": 5})], [exact]) == [billable]


def test_a_line_of_another_amount_is_no_charge_of_ours() -> None:
    """A line of another amount is no charge, and neither is a line that ends with the id alone."""
    billable = _billable("2026-07")
    for text, amount in (("Extra work [2026-07]", 1), (described(billable), 2)):
        assert _on([billable], [Line(description=text, entity_type=ADHOC, unit_amount=amount)]) == []


def test_events_with_one_id_and_two_times_are_two() -> None:
    """Each of the two events has a charge of its own, and a line is the charge of one event."""
    first, second = _billable("b1", at=1), _billable("b1", at=2)
    line = Line(description=described(second), entity_type=ADHOC)
    assert without([first, second], [first]) == [second]
    assert _on([first, second], [line]) == [second]
    assert _on([second, second], [line]) == [second]


EVENT_IDS = st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True)


@given(EVENT_IDS, IDS, IDS, SECONDS, SECONDS)
def test_an_idempotency_key_fits_and_is_of_one_event(event_id: str, one: str, other: str, at: int, then: int) -> None:
    """A key has at most 100 characters that a header may hold. It differs for each id and time, and is stable."""
    billables = [Billable(name, 1, "", when, "inv", 1) for name in (one, other) for when in (at, then)]
    keys = {billable.reference: idempotency_key(event_id, "add_charge", billable) for billable in billables}
    for key in keys.values():
        assert len(key) <= KEY_LENGTH
        assert key.isascii()
        assert key.isprintable()
        assert key.startswith(f"{event_id}-add_charge@")
    assert len(set(keys.values())) == len({one, other}) * len({at, then})
    assert idempotency_key(event_id, "close") == f"{event_id}-close"


@given(SECONDS, SECONDS, SECONDS, IDS)
def test_sort_keys_are_between_those_of_the_period_that_holds_them(start: int, end: int, at: int, name: str) -> None:
    """DynamoDB compares strings by their UTF-8 bytes. Both ends of the period are included."""
    first, last = between(Period(start, end))
    key = billable_key("c", _billable(name, at=at))["sk"]["S"]
    if end <= LATEST_SECOND:
        assert (first.encode() <= key.encode() <= last.encode()) == (start <= at <= end)


@given(IDS, TEXTS, SECONDS, st.integers(1, 10**12))
def test_a_billable_event_survives_the_table(name: str, text: str, at: int, amount: int) -> None:
    """A billable event survives the way into an item and back."""
    billable = Billable(name, amount, text, at)
    assert chargeable("c", item_of("c", billable)) == replace(billable, customer_id="c")


@pytest.mark.parametrize(
    ("name", "amount", "code"),
    [
        ("b", 10**12 + 1, "invalid_amount"),
        ("b", -1, "invalid_amount"),
        ("a b", 1, "invalid_id"),
        ("a]", 1, "invalid_id"),
    ],
)
def test_what_cannot_be_charged_is_refused(name: str, amount: int, code: str) -> None:
    """No charge has a negative or an absurd amount, and the worker requires a valid reference."""
    with pytest.raises(Unprocessable) as failed:
        Billable(name, amount, "", 0).require_chargeable()
    assert failed.value.code == code
