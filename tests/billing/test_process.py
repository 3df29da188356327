"""The whole work on one event, against the table and the stand-in."""

import pytest

from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage, event_body, event_of, some

pytestmark = pytest.mark.anyio


async def test_an_invoice_gets_its_charges_and_is_closed(stage: Stage, billing: OpenBilling) -> None:
    """Each unbilled event of the period becomes a charge; then the invoice is closed, and they are billed."""
    body = event_body()
    invoice = body["content"]["invoice"]
    stage.register(body)
    stage.put(invoice["customer_id"], some(3))
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
        assert await worker.process(event_of(body)) == "already"
        print(worker.table.calls, worker.chargebee.calls)
    found = stage.invoice(invoice["id"])
    print(found)
    assert found["status"] != "pending"
    assert [charge["amount"] for charge in found["charges"]] == [100, 101, 102]
    billed = stage.billables(invoice["customer_id"])
    assert {one.invoice_id for one in billed} == {invoice["id"]}
    assert all(one.billed_at for one in billed)
