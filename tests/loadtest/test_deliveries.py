"""The messages that `python -m loadtest billing` sends to the worker's queue."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidEvent
from app.events import PENDING_INVOICE_CREATED, parse_event
from loadtest.fire.deliveries import NO_EVENT, NO_INVOICE, Deliveries, deliveries

WANTED = frozenset({PENDING_INVOICE_CREATED})


@pytest.fixture(scope="module")
def planned() -> Deliveries:
    return deliveries(1000, 7)


def test_shares(planned: Deliveries) -> None:
    """A tenth of the messages are sent again, a twentieth are too late, and a hundredth can never succeed."""
    ids = Counter(message.attributes["event_id"] for message in planned.messages)
    assert len(planned.messages) == 1000
    assert sum(times - 1 for times in ids.values()) == planned.again == 100
    assert planned.too_late == 50
    assert Counter(planned.poison.values()) == {NO_EVENT: 5, NO_INVOICE: 5}
    assert len(planned.charges) == len(planned.events) == 840


def test_order(planned: Deliveries) -> None:
    """An older version of an invoice is first sent after its newest version."""
    newest = {event["id"]: event["content"]["invoice"]["resource_version"] for event in planned.events}
    seen: set[str] = set()
    older = set()
    for message in planned.messages:
        if planned.poison.get(message.attributes["event_id"]) == NO_EVENT:
            continue
        event = parse_event(message.body.encode(), WANTED)
        invoice = event.content.invoice  # type: ignore[union-attr]  # wanted
        if event.id in newest:
            seen.add(invoice.id)  # type: ignore[union-attr]
        elif event.id not in planned.poison:
            older.add(event.id)
            assert invoice.id in seen  # type: ignore[union-attr]
    assert len(older) == planned.too_late


def test_customers(planned: Deliveries) -> None:
    """Customers have one or two subscriptions, on one invoice or on two, in two currencies."""
    owners: dict[str, list[Any]] = {}
    for event in planned.events:
        owners.setdefault(event["content"]["invoice"]["customer_id"], []).append(event["content"]["invoice"])
    shapes = Counter(
        tuple(
            len({line["subscription_id"] for line in one["line_items"] if line["entity_type"] != "adhoc"})
            for one in some
        )
        for some in owners.values()
    )
    assert set(shapes) == {(1,), (2,), (1, 1)}
    assert min(shapes.values()) >= 200
    apart = [{one["currency_code"] for one in some} for some in owners.values() if len(some) == 2]
    assert {frozenset(currencies) for currencies in apart} == {frozenset(("EUR", "USD")), frozenset(("EUR",))}


def test_usage_belongs_to_one_invoice(planned: Deliveries) -> None:
    """Usage has a subscription and a currency. It may lack both if the customer has only one subscription."""
    lines = [line for event in planned.events for line in event["content"]["invoice"]["line_items"]]
    own = Counter(owner for owner, _ in {(line["customer_id"], line["subscription_id"]) for line in lines})
    named: Counter[bool] = Counter()
    for one in (one for some in planned.charges.values() for one in some):
        names = (one.billable.subscription_id, one.billable.currency)
        assert names in {(one.subscription_id, one.currency), (None, None)}
        assert names != (None, None) or own[one.billable.customer_id] == 1
        named[names == (None, None)] += 1
    assert min(named.values()) > 100
    assert all(some for some in planned.charges.values())
    keys = [(one.owner, one.billable.id, one.billable.amount) for some in planned.charges.values() for one in some]
    assert len(set(keys)) == len(keys)


def test_an_older_event_is_about_its_invoice(planned: Deliveries) -> None:
    """`about` has the invoice of every event, also of older events, so that the audit can assign dead letters."""
    ids = {message.attributes["event_id"] for message in planned.messages}
    assert planned.about.keys() == ids - planned.poison.keys()


def test_what_is_no_event(planned: Deliveries) -> None:
    bodies = [m.body for m in planned.messages if planned.poison.get(m.attributes["event_id"]) == NO_EVENT]
    for body in bodies:
        with pytest.raises(InvalidEvent):
            parse_event(body.encode(), WANTED)


@settings(max_examples=20)
@given(st.integers(100, 400), st.integers(0, 2**32))
def test_a_seed_decides(number: int, seed: int) -> None:
    """The seed determines the order and the repetitions. Ids are always new, so that two runs can use one table."""
    first, again, other = (deliveries(number, each) for each in (seed, seed, seed + 1))
    ids, same, others = ([m.attributes["event_id"][-6:] for m in made.messages] for made in (first, again, other))
    assert ids == same != others
    assert first.messages[0].attributes["event_id"] != again.messages[0].attributes["event_id"]
