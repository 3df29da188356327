"""Chargebee rejects changes of an invoice because of its state, although the invoice is pending."""

from typing import Any
from unittest.mock import AsyncMock

import pytest

from app.billing.answers import InvalidState
from app.billing.attempt import CONFLICT_SECONDS
from app.billing.processing import Billing
from app.clock import now_ms
from app.errors import BillingFailed, ChargebeeUnavailable, Unprocessable
from app.events import Event
from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage, event_body, event_of, some

pytestmark = pytest.mark.anyio


async def _rejected(worker: Billing, event: Event, ago: float = 0) -> BillingFailed:
    """Processes the event while Chargebee rejects each change. `ago`: seconds since the first such attempt."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker.chargebee, "_write", AsyncMock(side_effect=InvalidState))
        patch.setattr("app.billing.leases.now_ms", lambda: now_ms() + round(1000 * ago))
        with pytest.raises(BillingFailed) as failed:
            await worker.process(event)
    assert failed.value.code == "invalid_state"
    return failed.value


async def test_a_conflict_that_lasts_is_for_a_person(stage: Stage, billing: OpenBilling) -> None:
    """The conflict is retried for an hour. Then the dead letter names its cause. After a redrive, the hour restarts.

    The reservations stay, so that the next attempt finds its own charges.
    """
    body = event_body()
    customer = body["content"]["invoice"]["customer_id"]
    stage.register(body)
    stage.put(customer, some(2))
    async with billing() as worker:
        event = event_of(body)
        assert isinstance(await _rejected(worker, event), ChargebeeUnavailable)
        assert isinstance(await _rejected(worker, event, CONFLICT_SECONDS - 60), ChargebeeUnavailable)
        final = await _rejected(worker, event, CONFLICT_SECONDS + 60)
        assert isinstance(final, Unprocessable)
        assert final.detail == "For over an hour, Chargebee has rejected changes of the pending invoice"
        assert {one.invoice_id for one in stage.billables(customer)} == {body["content"]["invoice"]["id"]}
        assert isinstance(await _rejected(worker, event, CONFLICT_SECONDS + 120), ChargebeeUnavailable)
        assert await worker.process(event) == "closed"
    stage.require_billed_once(body, some(2))
    assert "conflict_at" not in stage.claim(body["id"])


@pytest.mark.parametrize(
    ("failing", "final"),
    [
        ("app.billing.chargebee.Chargebee.close", Unprocessable),
        ("app.billing.api_calls.ApiCalls._send", ChargebeeUnavailable),
    ],
    ids=["another failure", "no answer"],
)
async def test_a_failure_between_two_conflicts(
    stage: Stage, billing: OpenBilling, failing: str, final: type[BillingFailed]
) -> None:
    """Only a call without an answer restarts the hour, because Chargebee may still be at work on it.

    If other failures did so, too, alternating failures would be retried until SQS drops the message.
    """
    body = event_body()
    stage.register(body)
    async with billing() as worker:
        await _rejected(worker, event_of(body))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(failing, AsyncMock(side_effect=ChargebeeUnavailable("a failure", "other")))
            with pytest.raises(ChargebeeUnavailable):
                await worker.process(event_of(body))
        assert isinstance(await _rejected(worker, event_of(body), CONFLICT_SECONDS + 60), final)


async def test_an_invoice_that_a_late_call_closes_after_a_conflict(stage: Stage, billing: OpenBilling) -> None:
    """The invoice has no charge by which it could be found, but the next attempt gets the answer of the late call."""
    stage.behave(renumber=True)
    body = event_body()
    stage.register(body)
    async with billing() as worker:
        write = worker.chargebee._write

        async def late(*arguments: Any, **options: Any) -> None:
            await write(*arguments, **options)
            raise InvalidState

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker.chargebee, "_write", late)
            with pytest.raises(ChargebeeUnavailable) as failed:
                await worker.process(event_of(body))
        assert failed.value.code == "invalid_state"
        assert await worker.process(event_of(body)) == "closed_without_charge"
