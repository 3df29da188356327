"""The name of a line changes neither the billing period nor what counts as charged."""

import asyncio
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.billing.charges import Billable
from tests.billing.conftest import OpenBilling
from tests.billing.mortal import Killed, Mortal
from tests.billing.stage import END, START, Stage, event_body, event_of, line, some
from tests.harness.service import NO_CAS

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
    billing: OpenBilling, body: dict[str, Any], patch: pytest.MonkeyPatch | None = None, at: int = 7
) -> str:
    """Processes the event; if `patch` is given, kills the worker at call number `at`, before the invoice is closed."""
    async with billing() as worker:
        if patch is not None:
            Mortal(worker, patch, at=at)
        return await worker.process(event_of(body))


def _kill(stage: Stage, billing: OpenBilling, body: dict[str, Any], at: int = 7) -> None:
    """Kills a worker at call number `at`; by default, this leaves the reservations and one charge."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        asyncio.run(_process(billing, body, patch, at))
    stage.end_leases(body)


def _charged(stage: Stage, body: dict[str, Any]) -> list[int]:
    """Returns the amounts of the charges."""
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
    """Usage of last year and of the next period is not charged, and is not reserved for the invoice either."""
    body = event_body(line_items=lines)
    invoice = body["content"]["invoice"]
    stage.register(body)
    stage.put(invoice["customer_id"], [BEFORE, NOW, AFTER])
    assert asyncio.run(_process(billing, body)) == "closed"
    assert _charged(stage, body) == [2000]
    assert [one.invoice_id for one in stage.billables(invoice["customer_id"])] == [None, invoice["id"], None]


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, max_size=3), st.booleans(), st.booleans())
def test_no_name_changes_what_is_charged(
    stage: Stage, billing: OpenBilling, plans: list[str], adhoc: list[str], truncated: bool, killed: bool
) -> None:
    """The name may be on any line of the event, in a first attempt or in one after a kill."""
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


@pytest.mark.parametrize("killed", [False, True], ids=["at once", "after a kill"])
def test_two_events_with_one_id_are_both_charged(stage: Stage, billing: OpenBilling, killed: bool) -> None:
    """The table tells them apart by their times, and so does the invoice."""
    body = event_body()
    customer = body["content"]["invoice"]["customer_id"]
    stage.register(body)
    twins = [Billable("b1", 2000, "Usage", START + 5), Billable("b1", 700, "Usage", START + 9)]
    stage.put(customer, [*twins, *some(1)])
    if killed:
        _kill(stage, billing, body)
    assert asyncio.run(_process(billing, body)) == "closed"
    assert _charged(stage, body) == [100, 700, 2000]
    assert all(one.billed_at is not None for one in stage.billables(customer))


@pytest.mark.parametrize("name", ["Extra work [b1]", f"Usage [billable:{NOW.reference}]"])
def test_a_line_of_somebody_else_takes_no_charge_away(stage: Stage, billing: OpenBilling, name: str) -> None:
    """A foreign line is no charge, whether it is in the event or comes later with another amount."""
    body = event_body(
        line_items=[line(1), line(2) | {"description": name, "entity_type": "adhoc", "unit_amount": 2000}]
    )
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], [NOW])
    _kill(stage, billing, body, at=5)  # after the reservation, before the charge
    url = f"{stage.api.url}/api/v2/invoices/{body['content']['invoice']['id']}/add_charge"
    later = {"amount": "5", "description": name}
    httpx.post(url, data=later, auth=(stage.api.api_key, ""), verify=NO_CAS, timeout=60).raise_for_status()
    assert asyncio.run(_process(billing, body)) == "closed"
    assert _charged(stage, body) == [5, 2000]
