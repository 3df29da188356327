"""Closing gives an invoice the next number as its id, and Chargebee no longer knows the id of the draft."""

from typing import Any

import pytest

from app.billing.answers import ApiAnswer
from app.errors import Unprocessable
from tests.billing.conftest import OpenBilling
from tests.billing.mortal import Killed, Mortal
from tests.billing.stage import Stage, again, event_body, event_of, some

pytestmark = pytest.mark.anyio
CHARGES = 3
# The calls of a first attempt: see tests/billing/test_crashes.py.
FIRST_CHARGE, SECOND_CHARGE, FINISH = 6, 8, 13


@pytest.fixture
def body(stage: Stage) -> dict[str, Any]:
    stage.behave(renumber=True, idempotency_seconds=1e-6)
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(CHARGES))
    return body


async def _killed(billing: OpenBilling, stage: Stage, body: dict[str, Any], at: int) -> None:
    """Kills a worker before its call with the index `at`, and ends its leases."""
    async with billing("killed") as worker:
        with pytest.MonkeyPatch.context() as patch:
            Mortal(worker, patch, at)
            with pytest.raises(Killed):
                await worker.process(event_of(body))
    stage.end_leases(body)


async def test_a_first_attempt(stage: Stage, billing: OpenBilling, body: dict[str, Any]) -> None:
    """The answer to the close has another id."""
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
        assert stage.tries("Chargebee") == {"add_charge": CHARGES, "close": 1}
    stage.require_billed_once(body, some(CHARGES))


async def test_an_earlier_attempt_has_closed_it(stage: Stage, billing: OpenBilling, body: dict[str, Any]) -> None:
    """The worker finds the closed invoice by the references of its charges, among the customer's other invoices."""
    other = event_body(customer_id=body["content"]["invoice"]["customer_id"])
    stage.register(other)
    await _killed(billing, stage, body, FINISH)
    stage.close(other["content"]["invoice"]["id"])
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
        assert stage.tries("Chargebee") == {"retrieve": 1, "list_invoices": 1}
    stage.require_billed_once(body, some(CHARGES))


async def test_another_event_of_a_closed_invoice(stage: Stage, billing: OpenBilling, body: dict[str, Any]) -> None:
    """It changes nothing."""
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
        assert await worker.process(event_of(again(body, resource_version=10**15))) == "closed"
    stage.require_billed_once(body, some(CHARGES))


async def test_a_person_closes_it_between_two_charges(stage: Stage, billing: OpenBilling, body: dict[str, Any]) -> None:
    """The charge on the invoice is billed. Another invoice may charge the other billable events."""
    invoice = body["content"]["invoice"]
    await _killed(billing, stage, body, SECOND_CHARGE)
    stage.close(invoice["id"])
    async with billing() as worker:
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
    assert failed.value.code == "closed_without_charges"
    assert [one.invoice_id for one in stage.billables(invoice["customer_id"])] == [invoice["id"], None, None]
    assert stage.billables(invoice["customer_id"])[0].billed_at is not None


async def test_a_person_closes_it_before_all_charges(stage: Stage, billing: OpenBilling, body: dict[str, Any]) -> None:
    """Nothing was charged, so the billable events are free for another invoice."""
    invoice = body["content"]["invoice"]
    stage.close(invoice["id"])
    async with billing() as worker:
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
        assert stage.tries("Chargebee") == {"add_charge": 1}
    assert failed.value.code == "invoice_not_found"
    assert [one.invoice_id for one in stage.billables(invoice["customer_id"])] == [None] * CHARGES


async def test_a_charge_whose_answer_was_lost(
    stage: Stage, billing: OpenBilling, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first try adds the charge, a person closes the invoice, and the second try gets 404."""
    invoice = body["content"]["invoice"]
    async with billing() as worker:
        send, sent = worker.chargebee._calls._send, 0

        async def lost(*request: Any) -> ApiAnswer:
            nonlocal sent
            answer, sent = await send(*request), sent + 1
            if sent > 1:
                return answer
            stage.close(invoice["id"])
            return ApiAnswer(502, {}, b"")

        monkeypatch.setattr(worker.chargebee._calls, "_send", lost)
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
    assert failed.value.code == "closed_without_charges"
    assert [one.invoice_id for one in stage.billables(invoice["customer_id"])] == [invoice["id"], None, None]


async def test_a_charge_that_is_nowhere(stage: Stage, billing: OpenBilling, body: dict[str, Any]) -> None:
    """If the draft is gone and no closed invoice has its charge, the billable events stay reserved for a person."""
    invoice = body["content"]["invoice"]
    await _killed(billing, stage, body, FIRST_CHARGE)
    stage.close(invoice["id"])  # without a charge
    async with billing() as worker:
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
    assert failed.value.code == "invoice_not_found"
    assert [one.invoice_id for one in stage.billables(invoice["customer_id"])] == [invoice["id"]] * CHARGES
