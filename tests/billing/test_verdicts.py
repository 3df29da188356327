"""A verdict, and what an attempt has set aside, outlive each kill: a later attempt never sees less."""

from dataclasses import replace
from typing import Any

import pytest

from app.billing import billables, leases
from app.errors import Unprocessable
from tests.billing.conftest import OpenBilling
from tests.billing.mortal import kill
from tests.billing.stage import Stage, event_body, event_of, some

pytestmark = pytest.mark.anyio
# The calls of a first attempt with three charges: see tests/billing/test_crashes.py.
SECOND_CHARGE, FINISH = 8, 13


async def _verdict(billing: OpenBilling, body: dict[str, Any]) -> str:
    async with billing() as worker:
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
        assert await worker.known([body["id"]]) == (set(), {body["id"]: failed.value.code})
    return failed.value.code


def _prepared(stage: Stage, count: int = 3, **invoice: Any) -> dict[str, Any]:
    body = event_body(**invoice)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(count))
    return body


async def test_a_kill_at_any_step_of_a_verdict(stage: Stage, billing: OpenBilling) -> None:
    """The updates take away what has led to the verdict. They are in the transaction that writes the verdict."""
    at = 0
    while True:
        body = _prepared(stage)
        await kill(billing, stage, body, SECOND_CHARGE)
        stage.close(body["content"]["invoice"]["id"])
        calls = await kill(billing, stage, body, at)
        for _ in range(2):
            assert await _verdict(billing, body) == "closed_without_charges"
        assert [one.billed_at is None for one in stage.billables(body["content"]["invoice"]["customer_id"])] == [
            *(False, True, True)
        ]
        if at >= calls:
            break
        at += 1


@pytest.mark.parametrize("transaction", [1, 2])
@pytest.mark.parametrize("billed", [0, 2])
async def test_a_kill_between_the_transactions_of_a_verdict(
    stage: Stage, billing: OpenBilling, billed: int, transaction: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With more updates than a transaction holds, the last update is written with the verdict, and not before."""
    monkeypatch.setattr(leases, "TRANSACTION", 3)
    body = _prepared(stage, 6)
    invoice = body["content"]["invoice"]
    await kill(billing, stage, body, SECOND_CHARGE - 2 + 2 * billed)
    stage.close(invoice["id"])
    # claim, invoice, two queries, a slot and the retrieval; then the transactions
    await kill(billing, stage, body, 5 + transaction, after=True)
    for _ in range(2):
        assert await _verdict(billing, body) == "closed_without_charges"
    free = [one for one in stage.billables(invoice["customer_id"]) if one.invoice_id is None]
    assert len(free) == 6 - billed


async def test_a_verdict_is_kept_until_a_person_removes_it(stage: Stage, billing: OpenBilling) -> None:
    """DynamoDB does not delete the claim, because an attempt without it would say that the invoice is closed."""
    body = _prepared(stage)
    await kill(billing, stage, body, SECOND_CHARGE)
    stage.close(body["content"]["invoice"]["id"])
    assert await _verdict(billing, body) == "closed_without_charges"
    claim = stage.claim(body["id"])
    assert (claim["status"], claim["detail"]) == (
        {"S": "failed"},
        {"S": "The invoice was closed without 2 of 3 charges"},
    )
    assert "expires_at" not in claim


async def test_a_rejected_call_is_judged_again_after_a_redrive(stage: Stage, billing: OpenBilling) -> None:
    """Nothing has changed, so the next attempt sees as much as the first. Meanwhile the event counts as judged."""
    body = event_body()
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    assert await _verdict(billing, body) == "invoice_not_found"
    stage.register(body)
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
    assert "verdict" not in stage.claim(body["id"])


async def test_the_outcome_says_what_an_earlier_attempt_has_set_aside(stage: Stage, billing: OpenBilling) -> None:
    """The writer corrects the item after the invoice was closed. So the invoice does not have the usage."""
    body = _prepared(stage, 3)
    customer = body["content"]["invoice"]["customer_id"]
    odd = replace(some(4)[3], amount=-1)
    stage.put(customer, [odd])
    await kill(billing, stage, body, FINISH)
    stage.put(customer, [replace(odd, amount=5)])
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed_in_part"
    stage.require_billed_once(body, some(3))


async def test_what_was_set_aside_is_charged_after_a_correction(stage: Stage, billing: OpenBilling) -> None:
    """The next attempt reserves the usage, because no invoice has it."""
    body = _prepared(stage, 3)
    customer = body["content"]["invoice"]["customer_id"]
    odd = replace(some(4)[3], amount=-1)
    stage.put(customer, [odd])
    await kill(billing, stage, body, SECOND_CHARGE)
    stage.put(customer, some(4))
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
    stage.require_billed_once(body, some(4))
    assert "reason" not in stage.charge(customer, odd)


async def test_usage_of_nothing_needs_no_charge(stage: Stage, billing: OpenBilling) -> None:
    """After a kill, the closed invoice cannot be found by charges, but the close is repeated with its key."""
    stage.behave(renumber=True)
    body = _prepared(stage, 0)
    customer = body["content"]["invoice"]["customer_id"]
    zeros = [replace(one, amount=0) for one in some(2)]
    stage.put(customer, zeros)
    await kill(billing, stage, body, 7)  # claim, invoice, two queries, reservation, a slot and the close
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed_without_charge"
    assert all(one.billed_at is not None and one.closed_as != one.invoice_id for one in stage.billables(customer))


@pytest.mark.slow
async def test_a_kill_at_any_step_of_several_transactions(
    stage: Stage, billing: OpenBilling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charges, an amount of 0 and odd items share the transactions. Each ends as without the kill."""
    monkeypatch.setattr(leases, "TRANSACTION", 3)
    monkeypatch.setattr(billables, "TRANSACTION", 3)
    stage.behave(idempotency_seconds=1e-6, renumber=True)
    amounts = (100, -1, 101, 0, 102, -2, 103)
    usage = [replace(one, amount=amount) for one, amount in zip(some(7), amounts, strict=True)]
    at = 0
    while True:
        body = _prepared(stage, 0)
        customer = body["content"]["invoice"]["customer_id"]
        stage.put(customer, usage)
        calls = await kill(billing, stage, body, at)
        async with billing() as worker:
            assert await worker.process(event_of(body)) in ("closed_in_part", "already")
        assert stage.claim(body["id"])["outcome"] == {"S": "closed_in_part"}
        stage.require_billed_once(body, [one for one in usage if one.amount > 0])
        items = [stage.charge(customer, one) for one in usage]
        assert ["billed_at" in item for item in items] == [one.amount >= 0 for one in usage]
        assert ["reason" in item for item in items] == [one.amount < 0 for one in usage]
        if at >= calls:
            break
        at += 1
