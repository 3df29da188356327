"""What a person and Chargebee leave behind: void invoices, edited lines."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from app.billing.charges import Billable
from app.errors import Postponed, Unprocessable
from tests.billing.conftest import OpenBilling
from tests.billing.mortal import kill
from tests.billing.stage import Stage, again, event_body, event_of, line, some

pytestmark = pytest.mark.anyio


async def _regenerated(stage: Stage, billing: OpenBilling, usage: list[Billable]) -> tuple[str, dict[str, Any]]:
    """Bills an invoice and voids it. Returns its id, and the event of the invoice that takes its place."""
    subscription = f"sub_{uuid4().hex}"
    old = event_body(subscription_id=subscription)
    stage.register(old)
    stage.put(old["content"]["invoice"]["customer_id"], [replace(one, subscription_id=subscription) for one in usage])
    async with billing() as worker:
        assert await worker.process(event_of(old)) == "closed"
    number = stage.charge(_customer(old), stage.billables(_customer(old))[0])["closed_as"]["S"]
    stage.correct(f"invoices/{number}/void")
    made = stage.correct(f"subscriptions/{subscription}/regenerate_invoice")
    return number, again(old, id=made["id"], line_items=made["line_items"], resource_version=None)


async def test_a_new_invoice_waits_until_the_old_one_is_settled(stage: Stage, billing: OpenBilling) -> None:
    """A person voids the old invoice after its close, and before a worker has marked its usage as billed.

    Without the wait, the new invoice would be closed without the usage, and the old event's worker, which gets the
    answer to the close, would then mark the usage as billed on the void invoice.
    """
    old = event_body(subscription_id=(subscription := f"sub_{uuid4().hex}"))
    stage.register(old)
    stage.put(_customer(old), [replace(one, subscription_id=subscription) for one in some(2)])
    await kill(billing, stage, old, 11)  # after the close, before the transaction that marks the usage
    stage.correct(f"invoices/{old['content']['invoice']['id']}/void")
    made = stage.correct(f"subscriptions/{subscription}/regenerate_invoice")
    new = again(old, id=made["id"], line_items=made["line_items"], resource_version=None)
    async with billing() as worker:
        with pytest.raises(Postponed) as waits:
            await worker.process(event_of(new))
        assert waits.value.code == "reserved_elsewhere"
        with pytest.raises(Unprocessable) as judged:
            await worker.process(event_of(old))
        assert judged.value.code == "invoice_voided"
        assert await worker.process(event_of(new)) == "closed"
    stage.require_billed_once(new, some(2))


async def test_a_new_invoice_does_not_wait_for_a_deleted_one(stage: Stage, billing: OpenBilling) -> None:
    """The old event's final verdict ends the wait, although the reservations stay: its dead letter names the usage."""
    old = event_body(subscription_id=(subscription := f"sub_{uuid4().hex}"))
    stage.register(old)
    stage.put(_customer(old), [replace(one, subscription_id=subscription) for one in some(2)])
    await kill(billing, stage, old, 8, after=True)  # after the first charge
    stage.correct(f"invoices/{old['content']['invoice']['id']}/delete")
    made = stage.correct(f"subscriptions/{subscription}/regenerate_invoice")
    new = again(old, id=made["id"], line_items=made["line_items"], resource_version=None)
    async with billing() as worker:
        with pytest.raises(Postponed, match="still being billed"):
            await worker.process(event_of(new))
        with pytest.raises(Unprocessable) as judged:
            await worker.process(event_of(old))
        assert judged.value.code == "invoice_not_found"
        assert await worker.process(event_of(new)) == "closed_without_charge"


async def test_a_new_invoice_takes_over_the_amount_of_the_void_one(stage: Stage, billing: OpenBilling) -> None:
    """A later correction of the usage item changes nothing, unless the usage is released first."""
    _, new = await _regenerated(stage, billing, some(1))
    stage.put(_customer(new), [replace(some(1)[0], amount=7)])
    async with billing() as worker:
        assert await worker.process(event_of(new)) == "closed"
    assert [one["amount"] for one in stage.invoice(new["content"]["invoice"]["id"])["charges"]] == [100]


@pytest.mark.slow
async def test_a_kill_at_any_step_of_a_takeover(stage: Stage, billing: OpenBilling) -> None:
    """Each charge of the void invoice is on the new one once, whatever the step."""
    stage.behave(idempotency_seconds=1e-6, renumber=True)
    at = 0
    while True:
        number, new = await _regenerated(stage, billing, some(2))
        calls = await kill(billing, stage, new, at)
        async with billing() as worker:
            assert await worker.process(event_of(new)) in ("closed", "already")
        stage.require_billed_once(new, some(2))
        for one in stage.billables(_customer(new)):
            assert stage.charge(_customer(new), one)["taken_from"] == {"S": number}
        if at >= calls:
            break
        at += 1


def _customer(body: dict[str, Any]) -> str:
    return str(body["content"]["invoice"]["customer_id"])


async def test_usage_of_an_invoice_that_is_not_void_stays_there(stage: Stage, billing: OpenBilling) -> None:
    """Two invoices of one subscription and period share the usage. The older one is asked for once."""
    first = event_body()
    second = again(first, id=f"draft_{uuid4().hex}")
    stage.register(first, second)
    stage.put(_customer(first), some(3))
    async with billing() as worker:
        assert await worker.process(event_of(first)) == "closed"
        assert await worker.process(event_of(second)) == "closed_without_charge"
        assert stage.tries("Chargebee") == {"add_charge": 3, "close": 2, "retrieve": 1}


async def test_a_void_invoice_lets_go_of_what_is_not_billed(stage: Stage, billing: OpenBilling) -> None:
    """Nobody pays a void invoice. Each repetition of its event has the same verdict."""
    body = event_body()
    stage.register(body)
    stage.put(_customer(body), some(3))
    await kill(billing, stage, body, 8)  # before the second charge
    stage.close(body["content"]["invoice"]["id"])
    stage.correct(f"invoices/{body['content']['invoice']['id']}/void")
    async with billing() as worker:
        for _ in range(2):
            with pytest.raises(Unprocessable) as failed:
                await worker.process(event_of(body))
            assert failed.value.code == "invoice_voided"
    assert {one.invoice_id for one in stage.billables(_customer(body))} == {None}


async def test_lines_that_a_person_removes_between_two_attempts(stage: Stage, billing: OpenBilling) -> None:
    """The event does not have all lines, so the invoice is read again. What was reserved before is still charged."""
    child = f"cus_{uuid4().hex[:8]}"
    lines = [line(1), line(2) | {"customer_id": child, "subscription_id": f"sub_{child}"}]
    body = event_body(line_items=lines)
    stage.register(body)
    stage.put(child, some(1, subscription_id=f"sub_{child}"))
    shortened = body["content"]["invoice"] | {"line_items": lines[:1], "line_items_next_offset": "[1]"}
    truncated = body | {"content": {"invoice": shortened}}
    await kill(billing, stage, truncated, 10)  # before the charge
    async with billing() as worker:
        assert await worker.process(event_of(truncated)) == "closed"
    assert [one.billed_at is not None for one in stage.billables(child)] == [True]
