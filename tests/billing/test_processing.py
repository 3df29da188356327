"""The whole work on one event, against the table and the stand-in."""

import asyncio
import time
from typing import Any

import pytest

from app.billing import dynamodb
from app.billing.items import claim_key, invoice_key
from app.errors import BillingFailed, ChargebeeUnavailable, ClaimedElsewhere, Postponed, TableUnavailable, Unprocessable
from tests.billing.conftest import OpenBilling
from tests.billing.mortal import Killed, Mortal
from tests.billing.stage import END, START, Stage, again, event_body, event_of, has_begun, line, some

pytestmark = pytest.mark.anyio


async def test_an_invoice_gets_its_charges_and_is_closed(stage: Stage, billing: OpenBilling) -> None:
    """Each unbilled event of the period becomes a charge; then the invoice is closed, and they are billed."""
    body = event_body()
    invoice = body["content"]["invoice"]
    stage.register(body)
    before, late = some(1, START - 1), some(1, END + 1)
    stage.put(invoice["customer_id"], [*some(3), *before, *late])
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
        assert await worker.process(event_of(body)) == "already"
        assert stage.tries("Chargebee") == {"add_charge": 3, "close": 1}
        assert await worker.known([body["id"], "ev_other"]) == ({body["id"]}, {})
    charges = stage.invoice(invoice["id"])["charges"]
    assert [(one["amount"], one["description"]) for one in charges] == [
        (100, f"Usage 0 [billable:b0@{START}]"),
        (101, f"Usage 1 [billable:b1@{START + 1}]"),
        (102, f"Usage 2 [billable:b2@{START + 2}]"),
    ]
    billed = [one.billed_at is not None for one in stage.billables(invoice["customer_id"])]
    assert billed == [False, True, True, True, False]


@pytest.mark.parametrize("refusals", [1, 5, 6])
async def test_keys_that_dynamodb_leaves_out(
    stage: Stage, billing: OpenBilling, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    """They are asked for again, at most five times."""
    body, asked = event_body(), 0
    stage.register(body)
    async with billing() as worker:
        await worker.process(event_of(body))
        call = worker.table._call

        async def reluctant(operation: str, **request: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked > refusals:
                return await call(operation, **request)
            return {"Responses": {}, "UnprocessedKeys": request["RequestItems"]}

        monkeypatch.setattr(worker.table, "_call", reluctant)
        monkeypatch.setattr(dynamodb, "UNPROCESSED_PAUSES", [0.0] * 5)
        if refusals > 5:
            with pytest.raises(TableUnavailable, match="again and again"):
                await worker.known([body["id"]])
        else:
            assert await worker.known([body["id"]]) == ({body["id"]}, {})


async def test_a_claim_is_kept_for_longer_than_a_message(stage: Stage, billing: OpenBilling) -> None:
    """The table deletes the claim at `expires_at`, after the 14 days for which SQS keeps a message at most."""
    body = event_body()
    stage.register(body)
    async with billing() as worker:
        await worker.process(event_of(body))
    assert int(stage.claim(body["id"])["expires_at"]["N"]) > time.time() + 14 * 24 * 3600
    ttl = stage.dynamodb.describe_time_to_live(TableName=stage.table)["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}


async def test_another_type_of_event_is_recorded_by_one_call(stage: Stage, billing: OpenBilling) -> None:
    """There is no work, and nothing is claimed."""
    body = event_body() | {"event_type": "invoice_updated"}
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "recorded"
        assert stage.tries("DynamoDB") == {"UpdateItem": 1}
        assert await worker.process(event_of(body)) == "already"


async def test_line_items_that_chargebee_left_out_are_fetched(stage: Stage, billing: OpenBilling) -> None:
    """The period covers the lines of all pages."""
    lines = [line(number) for number in range(250)]
    lines[249] |= {"date_to": END + 1000}
    body = event_body(line_items=lines)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(1, END + 900))
    shortened = body["content"]["invoice"] | {"line_items": lines[:10], "line_items_next_offset": "[10]"}
    truncated = body | {"content": {"invoice": shortened}}
    async with billing() as worker:
        assert await worker.process(event_of(truncated)) == "closed"
        assert stage.tries("Chargebee") == {"retrieve": 3, "add_charge": 1, "close": 1}


@pytest.mark.slow
async def test_more_charges_than_a_transaction_holds(stage: Stage, billing: OpenBilling) -> None:
    """Several transactions reserve and mark the events."""
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(230))
    async with billing(billing_lease=900) as worker:  # a renewal would be one more
        assert await worker.process(event_of(body)) == "closed"
        assert stage.tries("DynamoDB")["TransactWriteItems"] == 6
    stage.require_billed_once(body, some(230))


async def test_an_older_version_of_an_invoice_is_superseded(stage: Stage, billing: OpenBilling) -> None:
    """`resource_version` orders the events of one invoice; `occurred_at` does not."""
    newer = event_body(resource_version=2000)
    older = again(newer, resource_version=1000)
    stage.register(newer)
    stage.put(newer["content"]["invoice"]["customer_id"], some(2))
    async with billing() as worker:
        assert await worker.process(event_of(newer)) == "closed"
        assert await worker.process(event_of(older)) == "superseded"
        assert await worker.process(event_of(older)) == "already"
        newest = again(newer, resource_version=3000)
        assert await worker.process(event_of(newest)) == "closed"
    stage.require_billed_once(newer, some(2))


@pytest.mark.parametrize("same_event", [True, False])
async def test_two_workers_at_once_bill_an_invoice_once(stage: Stage, billing: OpenBilling, same_event: bool) -> None:
    """One worker does the work; the other one learns when the lease ends."""
    body = event_body()
    stage.register(body)
    stage.behave(latency=0.05)
    stage.put(body["content"]["invoice"]["customer_id"], some(3))
    other = body if same_event else again(body)
    async with billing("worker-1") as first, billing("worker-2") as second:
        results = await asyncio.gather(
            first.process(event_of(body)), second.process(event_of(other)), return_exceptions=True
        )
    assert "closed" in results
    assert any(isinstance(result, ClaimedElsewhere) for result in results)
    assert len(stage.invoice(body["content"]["invoice"]["id"])["charges"]) == 3
    assert len(stage.invoice(body["content"]["invoice"]["id"])["closes"]) == 1


async def test_two_invoices_of_one_period_share_the_charges(stage: Stage, billing: OpenBilling) -> None:
    """A customer may have several invoices: each billable event is on one of them."""
    one = event_body()
    other = event_body(customer_id=one["content"]["invoice"]["customer_id"])
    stage.register(one, other)
    stage.put(one["content"]["invoice"]["customer_id"], some(20))

    async def until_closed(owner: str, body: dict[str, object]) -> None:
        async with billing(owner) as worker:
            for _ in range(10):
                try:
                    assert await worker.process(event_of(body)) in ("closed", "closed_without_charge")
                    return
                except Postponed:
                    await asyncio.sleep(0.05)
        pytest.fail("not closed in ten attempts")

    await asyncio.gather(until_closed("worker-1", one), until_closed("worker-2", other))
    charges = [
        charge["billable"]
        for body in (one, other)
        for charge in stage.invoice(body["content"]["invoice"]["id"])["charges"]
    ]
    assert sorted(charges) == sorted(billable.id for billable in some(20))


@pytest.mark.slow
async def test_a_lease_is_renewed_while_the_work_goes_on(stage: Stage, billing: OpenBilling) -> None:
    """Five calls of two seconds each need a renewal of a lease of six seconds. No other worker can claim meanwhile."""
    body = event_body()
    stage.register(body)
    stage.behave(latency=2)
    stage.put(body["content"]["invoice"]["customer_id"], some(4))
    async with billing("worker-1", billing_lease=6, chargebee_timeout=5) as first, billing("worker-2") as second:
        processing = asyncio.create_task(first.process(event_of(body)))
        await asyncio.sleep(7)
        with pytest.raises(ClaimedElsewhere):
            await second.process(event_of(body))
        assert await processing == "closed"
    stage.require_billed_once(body, some(4))


@pytest.mark.slow
@pytest.mark.parametrize("item", ["claim", "invoice"])
async def test_a_worker_that_has_lost_its_lease_stops(stage: Stage, billing: OpenBilling, item: str) -> None:
    """The renewal finds another owner, and the work is cancelled in the middle of a call."""
    body = event_body()
    stage.register(body)
    stage.behave(latency=20)
    stage.put(body["content"]["invoice"]["customer_id"], some(4))
    async with billing("slow", billing_lease=6, chargebee_timeout=5.9) as worker:
        processing = asyncio.create_task(worker.process(event_of(body)))
        await has_begun(worker)
        key = claim_key(body["id"]) if item == "claim" else invoice_key(body["content"]["invoice"]["id"])
        stage.set(key, "owner", {"S": "another"})
        with pytest.raises(ClaimedElsewhere) as lost:
            await processing
        assert lost.value.code == "lease_lost"
        assert stage.tries("Chargebee") == {"add_charge": 1}
    stage.behave(latency=0)


@pytest.mark.parametrize("shortened", [{}, {"line_items_next_offset": "[1]"}], ids=["whole", "truncated"])
async def test_an_invoice_that_was_closed_without_its_charges_is_for_a_person(
    stage: Stage, billing: OpenBilling, shortened: dict[str, str]
) -> None:
    """A closed invoice takes no charges: the events are free again, and the dead letter says why."""
    body = event_body(**shortened)
    invoice = body["content"]["invoice"]
    stage.register(body)
    stage.put(invoice["customer_id"], some(2))
    stage.close(invoice["id"])
    async with billing() as worker:
        for _ in range(2):
            with pytest.raises(Unprocessable) as failed:
                await worker.process(event_of(body))
            assert failed.value.code == "closed_without_charges"
    assert [one.invoice_id for one in stage.billables(invoice["customer_id"])] == [None, None]


async def test_what_came_after_an_attempt_that_closed_the_invoice_is_not_on_it(
    stage: Stage, billing: OpenBilling
) -> None:
    """The earlier charges are billed; the late event stays unbilled, and the invoice is done."""
    body = event_body()
    invoice = body["content"]["invoice"]
    stage.register(body)
    stage.put(invoice["customer_id"], some(2))
    async with billing() as worker:
        with pytest.MonkeyPatch.context() as patch:
            Mortal(worker, patch, at=11)  # the last call, after the close
            with pytest.raises(Killed):
                await worker.process(event_of(body))
    stage.end_leases(body)
    stage.put(invoice["customer_id"], some(3)[2:])
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
    stage.require_billed_once(body, some(2))
    assert stage.billables(invoice["customer_id"])[2].invoice_id is None


async def test_an_invoice_that_was_closed_and_needs_no_charges_is_done(stage: Stage, billing: OpenBilling) -> None:
    """Chargebee answers the close with 409. The worker retrieves the invoice, which is closed and lacks no charge."""
    body = event_body()
    stage.register(body)
    stage.close(body["content"]["invoice"]["id"])
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed_without_charge"
        assert stage.tries("Chargebee") == {"close": 1, "retrieve": 1}


async def test_an_invoice_that_does_not_exist_is_poison(stage: Stage, billing: OpenBilling) -> None:
    """The charges of such an invoice are free for another one."""
    body = event_body()
    customer = body["content"]["invoice"]["customer_id"]
    stage.put(customer, some(2))
    async with billing() as worker:
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
    assert failed.value.code == "invoice_not_found"
    assert [one.invoice_id for one in stage.billables(customer)] == [None, None]
    assert stage.claim(body["id"])["code"] == {"S": "invoice_not_found"}


@pytest.mark.parametrize(
    ("settings", "error", "code"),
    [
        ({"chargebee_api_key": "wrong"}, Postponed, "chargebee_unauthorized"),
        ({"chargebee_url": "http://127.0.0.1:9"}, ChargebeeUnavailable, "ClientConnectorError"),
        ({"billing_table": "missing"}, BillingFailed, "ResourceNotFoundException"),
    ],
    ids=["wrong key", "no Chargebee", "no table"],
)
async def test_what_is_not_the_fault_of_the_event_postpones_it(
    stage: Stage, billing: OpenBilling, settings: dict[str, str], error: type[BillingFailed], code: str
) -> None:
    """The event waits until a person has corrected the deployment. The code names the cause; nothing is charged."""
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    async with billing(**settings) as worker:
        with pytest.raises(error) as failed:
            await worker.process(event_of(body))
    assert isinstance(failed.value, Postponed)
    assert failed.value.code == code
    assert stage.invoice(body["content"]["invoice"]["id"])["charges"] == []


async def test_lost_answers_charge_nothing_twice(stage: Stage, billing: OpenBilling) -> None:
    """Half of the failed calls were executed: the same key repeats the answer, or the invoice shows the charge."""
    bodies = [event_body() for _ in range(10)]
    stage.register(*bodies)
    stage.behave(errors=0.3, seed=7)
    for body in bodies:
        stage.put(body["content"]["invoice"]["customer_id"], some(3))

    async with billing() as worker:

        async def until_done(body: dict[str, object]) -> None:
            for _ in range(30):
                try:
                    await worker.process(event_of(body))
                    return
                except ChargebeeUnavailable:
                    continue

        await asyncio.gather(*(until_done(body) for body in bodies))
    stage.behave(errors=0)
    for body in bodies:
        stage.require_billed_once(body, some(3))
