"""The messages that `python -m loadtest billing` sends to the worker's queue."""

from collections import Counter

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
    """A tenth of the messages are repetitions, a twentieth come too late, and a hundredth are poison."""
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


def test_customers_share_nothing(planned: Deliveries) -> None:
    """Each invoice has its own customer, so that no invoice is charged with another one's usage."""
    customers = {event["content"]["invoice"]["customer_id"] for event in planned.events}
    assert len(customers) == len(planned.events)
    assert all(amounts for amounts in planned.charges.values())


def test_what_is_no_event(planned: Deliveries) -> None:
    bodies = [m.body for m in planned.messages if planned.poison.get(m.attributes["event_id"]) == NO_EVENT]
    for body in bodies:
        with pytest.raises(InvalidEvent):
            parse_event(body.encode(), WANTED)


@settings(max_examples=20)
@given(st.integers(100, 400), st.integers(0, 2**32))
def test_a_seed_decides(number: int, seed: int) -> None:
    """A seed decides the order and the repetitions. The ids are new, so that two runs can use one table."""
    first, again, other = (deliveries(number, each) for each in (seed, seed, seed + 1))
    ids, same, others = ([m.attributes["event_id"][-6:] for m in made.messages] for made in (first, again, other))
    assert ids == same != others
    assert first.messages[0].attributes["event_id"] != again.messages[0].attributes["event_id"]
