"""The records of calls to the table and to Chargebee."""

import asyncio
from typing import Any

import pytest

from app.billing.answers import InvalidState
from app.billing.caller import Caller
from app.billing.items import Update, claim_key
from app.errors import ChargebeeUnavailable, Postponed, TableUnavailable, Unprocessable
from app.telemetry.record import CANCELLED, CallRecord
from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage, event_body, event_of, has_begun, some
from tests.billing.test_chargebee import answering

pytestmark = pytest.mark.anyio
TOO_MANY = (429, '{"api_error_code": "api_request_limit_exceeded"}')


def _of_chargebee(stage: Stage) -> list[CallRecord]:
    return [call for call in stage.calls if call.system.name == "Chargebee"]


async def test_an_invoice(stage: Stage, billing: OpenBilling) -> None:
    """Each call has one record with its duration, and no record contains a value of the payload."""
    body = event_body()
    invoice = body["content"]["invoice"]
    stage.register(body)
    stage.put(invoice["customer_id"], some(2))
    async with billing() as worker:
        await worker.process(event_of(body))
    assert [call.operation for call in _of_chargebee(stage)] == ["add_charge", "add_charge", "close"]
    assert {call.system.name for call in stage.calls} == {"Chargebee", "DynamoDB"}
    assert all(call.code is None and not call.refused and call.ended > call.began for call in stage.calls)
    assert all(len(call.waited) == 1 for call in _of_chargebee(stage))
    values = {body["id"], invoice["id"], invoice["customer_id"], "Usage", stage.table}
    assert not [value for value in values if value in repr(stage.calls)]


@pytest.mark.parametrize(
    ("answers", "code", "refused", "retries", "throttled"),
    [
        ([TOO_MANY, (503, ""), (503, "")], "chargebee_http_503", [], 2, 1),
        ([(401, "{}")], "chargebee_unauthorized", [], 0, 0),
        ([(503, ""), (400, '{"api_error_code": "param_wrong_value"}')], None, ["param_wrong_value"], 1, 0),
        ([(409, '{"api_error_code": "invalid_state_for_request"}')], None, ["invalid_state_for_request"], 0, 0),
    ],
    ids=["fails", "no access", "rejected", "invalid state"],
)
async def test_how_a_call_to_chargebee_ends(
    stage: Stage,
    billing: OpenBilling,
    monkeypatch: pytest.MonkeyPatch,
    answers: list[tuple[int, str]],
    code: str | None,
    refused: list[str],
    retries: int,
    throttled: int,
) -> None:
    """The record has the result of the last try, the number of further tries, and how many of all were throttled."""
    monkeypatch.setattr("app.billing.api_calls.REST", 0.01)
    async with answering(*answers) as url, billing(chargebee_url=url) as worker:
        with pytest.raises((InvalidState, Postponed, Unprocessable)):
            await worker.chargebee.close(Caller("ev_1"), "inv_1", "cus_1")
    [call] = _of_chargebee(stage)
    assert (call.code, call.refused, call.retries, call.throttled) == (code, refused, retries, throttled)
    assert len(call.waited) == 1 + retries


async def test_a_call_that_was_never_made(stage: Stage, billing: OpenBilling, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that gets no slot has no record, because it says nothing about Chargebee."""
    async with billing() as worker:

        async def late(_: float) -> float:
            raise ChargebeeUnavailable("as the test says", "rate_limit_reached")

        monkeypatch.setattr(worker.chargebee._calls._rate_limit, "slot", late)
        with pytest.raises(ChargebeeUnavailable):
            await worker.chargebee.close(Caller("ev_1"), "inv_1", "cus_1")
    assert _of_chargebee(stage) == []


async def test_a_cancelled_call(stage: Stage, billing: OpenBilling) -> None:
    """A call whose task is cancelled has a code of its own."""
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    stage.behave(latency=20)
    async with billing() as worker:
        processing = asyncio.create_task(worker.process(event_of(body)))
        await has_begun(worker)
        processing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await processing
    stage.behave(latency=0)
    assert [call.code for call in _of_chargebee(stage)] == [CANCELLED]


async def test_how_a_call_to_the_table_ends(stage: Stage, billing: OpenBilling) -> None:
    """A condition that is not met is no failure of the table; a missing table is one."""
    claimed = Update(claim_key("ev_1"), "SET #a = :a", "attribute_not_exists(#pk)", a=1)
    async with billing() as worker:
        await worker.table.update(claimed)
        for updates in (
            [claimed],
            [claimed, Update(claim_key("ev_2"), "SET #a = :a", "attribute_not_exists(#pk)", a=1)],
        ):
            with pytest.raises(Exception, match="condition"):
                await worker.table.write(updates)
        worker.table.name = "missing"
        with pytest.raises(TableUnavailable):
            await worker.table.update(claimed)
    found: list[Any] = [(call.operation, call.code) for call in stage.calls]
    assert found == [
        ("UpdateItem", None),
        ("UpdateItem", None),
        ("TransactWriteItems", None),
        ("UpdateItem", "ResourceNotFoundException"),
    ]
