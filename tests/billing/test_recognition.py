"""What a line is called changes nothing: neither the billing period, nor what counts as charged."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.billing.charges import Billable
from tests.billing.conftest import OpenBilling
from tests.billing.mortal import Killed, Mortal
from tests.billing.stage import END, START, Stage, event_body, event_of, line

YEAR = 365 * 86_400
BEFORE, NOW, AFTER = (
    Billable("last-year", 1000, "Usage", START - YEAR),
    Billable("b1", 2000, "Usage", START + 5),
    Billable("next-month", 4000, "Usage", END + 5),
)
WORDS = st.sampled_from(["b1", "b2", "EUR", "last-year", f"billable:b1@{NOW.occurred_at}", "billable:b2@0"])
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60) | st.builds("Plan [{}]".format, WORDS)


def _named(*names: str, kind: str = "plan_item_price") -> list[dict[str, Any]]:
    return [line(number) | {"description": name, "entity_type": kind} for number, name in enumerate(names)]


async def _process(
    billing: OpenBilling, body: dict[str, Any], patch: pytest.MonkeyPatch | None = None, at: int = 6
) -> str:
    """With `patch` the worker is killed at its call number `at`, before it closes the invoice."""
    async with billing() as worker:
        if patch is not None:
            Mortal(worker, patch, at=at)
        return await worker.process(event_of(body))


def _kill(stage: Stage, billing: OpenBilling, body: dict[str, Any], at: int = 6) -> None:
    """Leaves an attempt's reservations and its charge."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        asyncio.run(_process(billing, body, patch, at))
    stage.end_leases(body)


def _charged(stage: Stage, body: dict[str, Any]) -> list[int]:
    """The amounts of the charges."""
    found = stage.invoice(body["content"]["invoice"]["id"])
    assert found["status"] != "pending"
    return sorted(one["amount"] for one in found["charges"])


@pytest.mark.parametrize(
    "lines",
    [
        _named("Workshop Suite Team (March 2026) [EUR]"),
        [*_named("Seats"), line(2, START, START + 1) | {"description": "Set-up"}],
        [*_named("Workshop Suite Team [EUR]"), line(2, START, START + 1) | {"description": "Set-up"}],
    ],
    ids=["brackets", "no brackets", "brackets on the long line"],
)
def test_a_plan_with_brackets_has_its_period(stage: Stage, billing: OpenBilling, lines: list[dict[str, Any]]) -> None:
    """Usage of last year and of the next period stays where it is."""
    body = event_body(line_items=lines)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], [BEFORE, NOW, AFTER])
    assert asyncio.run(_process(billing, body)) == "closed"
    assert _charged(stage, body) == [2000]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, max_size=3), st.booleans(), st.booleans())
def test_no_name_changes_what_is_charged(
    stage: Stage, billing: OpenBilling, plans: list[str], adhoc: list[str], truncated: bool, killed: bool
) -> None:
    """On any line of the event, in a first attempt and in one after a kill."""
    lines = _named(*plans) + _named(*adhoc, kind="adhoc")
    body = event_body(line_items=lines)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], [BEFORE, NOW, AFTER])
    if truncated:
        shortened = body["content"]["invoice"] | {"line_items": lines[:1], "line_items_next_offset": "[1]"}
        body = body | {"content": {"invoice": shortened}}
    if killed:
        _kill(stage, billing, body)
    assert asyncio.run(_process(billing, body)) == "closed"
    assert _charged(stage, body) == [2000]
