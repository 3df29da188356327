"""Events and items that can never be billed fail for good, so that a person corrects them. They are not retried."""

from typing import Any
from unittest.mock import AsyncMock

import pytest
from botocore.exceptions import ClientError

from app.billing import dynamodb
from app.billing.charge_items import charge_key
from app.billing.charges import billable_key
from app.billing.items import Update
from app.errors import Postponed, TableUnavailable, Unprocessable
from app.telemetry.record import CallRecord
from tests.billing.conftest import OpenBilling
from tests.billing.stage import END, START, Stage, event_body, event_of, item_of, line, some

pytestmark = pytest.mark.anyio
LATE = 17_723_196_000  # eleven digits, as if a time in milliseconds had lost its last digits


@pytest.mark.parametrize(
    "lines",
    [[line(1, START, LATE)], [line(1, LATE, LATE + 1)], [line(1, 10**40, 10**40 + 1)]],
    ids=["an end of eleven digits", "both of eleven digits", "more than DynamoDB's digits"],
)
async def test_a_period_that_cannot_be(stage: Stage, billing: OpenBilling, lines: list[dict[str, Any]]) -> None:
    """The failure has its own code, and nothing is charged."""
    body = event_body(line_items=lines)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    async with billing() as worker:
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
    assert failed.value.code == "invalid_period"
    assert stage.invoice(body["content"]["invoice"]["id"])["charges"] == []


@pytest.mark.parametrize("version", [10**38, -1, 1.5, "1"])
async def test_a_version_that_dynamodb_cannot_hold_is_none(stage: Stage, billing: OpenBilling, version: object) -> None:
    """An event with such a version has no order, but the worker still processes it."""
    body = event_body(resource_version=version)
    stage.register(body)
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed_without_charge"


@pytest.mark.parametrize(
    ("code", "message", "error", "means"),
    [
        ("ValidationException", "Size of hashkey has exceeded the maximum size limit", Unprocessable, None),
        ("ValidationException", "The provided key element does not match the schema", TableUnavailable, "same"),
        ("ResourceNotFoundException", "Requested resource not found", TableUnavailable, "same"),
        ("AccessDeniedException", "not authorized to perform dynamodb:UpdateItem", TableUnavailable, "same"),
        ("ProvisionedThroughputExceededException", "The level of …", TableUnavailable, "same"),
        ("TransactionInProgressException", "", TableUnavailable, "same"),
        ("RequestLimitExceeded", "", TableUnavailable, "same"),
        ("ThrottlingException", "", TableUnavailable, "same"),
        ("InternalServerError", "", TableUnavailable, "same"),
        ("SomethingNew", "", TableUnavailable, "same"),
    ],
)
def test_what_an_error_of_the_table_means(code: str, message: str, error: type[Exception], means: str | None) -> None:
    """Only a value that no table can store is a final error. Time or a person can resolve the other errors."""
    record = CallRecord("UpdateItem")
    with pytest.raises((Postponed, Unprocessable)) as failed:
        dynamodb._raise(ClientError({"Error": {"Code": code, "Message": message}}, "UpdateItem"), record)
    assert record.code == code
    assert type(failed.value) is error
    assert failed.value.code == (code if means else "table_validation")


async def test_a_value_that_the_table_refuses(stage: Stage, billing: OpenBilling) -> None:
    """DynamoDB rejects the value, in a call and in a transaction."""
    long = Update(billable_key("x" * 3000, some(1)[0]), "SET #a = :a", "attribute_not_exists(#pk)", a=1)
    async with billing() as worker:
        for updates in ([long], [long, long]):
            with pytest.raises(Unprocessable) as failed:
                await worker.table.write(updates)
            assert failed.value.code == "table_validation"


async def test_an_invoice_that_has_gone_keeps_its_reservations(stage: Stage, billing: OpenBilling) -> None:
    """If an earlier attempt may have charged a billable event, no other invoice may charge it."""
    body = event_body(line_items=[line(1)], line_items_next_offset="[1]")
    customer = body["content"]["invoice"]["customer_id"]
    beyond = some(1, END + 5)
    stage.put(customer, beyond)
    item = item_of(customer, beyond[0]) | charge_key(customer, beyond[0].suffix)
    item |= {"invoice_id": {"S": body["content"]["invoice"]["id"]}, "reserved_at": {"N": str(END)}}
    stage.dynamodb.put_item(TableName=stage.table, Item=item)
    async with billing() as worker:
        with pytest.raises(Unprocessable) as failed:
            await worker.process(event_of(body))
    assert failed.value.code == "invoice_not_found"
    assert [one.invoice_id for one in stage.billables(customer)] == [body["content"]["invoice"]["id"]]


async def test_an_unexpected_error_lets_go_of_the_claim(
    stage: Stage, billing: OpenBilling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next attempt need not wait for the end of the lease."""
    body = event_body()
    stage.register(body)
    async with billing() as worker:
        monkeypatch.setattr(worker.chargebee, "close", AsyncMock(side_effect=KeyError("bug")))
        with pytest.raises(KeyError):
            await worker.process(event_of(body))
    async with billing("another") as worker:
        assert await worker.process(event_of(body)) == "closed_without_charge"
