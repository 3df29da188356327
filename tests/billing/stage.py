"""Fills the table and the stand-in for the tests of the billing work, and reads what they contain afterwards."""

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest

from app.billing import charge_items
from app.billing.charge_items import charge_key, suffix_of
from app.billing.charges import Billable, chargeable
from app.billing.items import claim_key, invoice_key
from app.billing.processing import Billing
from app.errors import Unprocessable
from app.events import Event
from app.telemetry.record import CallRecord
from local import usage_events as laptop
from local.chargebee.chargebee_start import ChargebeeApi
from local.sample_events import SAMPLES
from tests.harness.service import NO_CAS

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

START, END = 1_785_535_200, 1_788_213_600
SUBSCRIPTION = "sub_of_the_tests"


def line(number: int, start: int = START, end: int = END) -> dict[str, Any]:
    return {
        "id": f"li_{number:016d}",
        "date_from": start,
        "date_to": end,
        "unit_amount": 1490,
        "quantity": 1,
        "amount": 1490,
        "is_taxed": False,
        "description": f"Terminal licence {number}",
        "entity_type": "plan_item_price",
        "object": "line_item",
    }


def event_body(**invoice: Any) -> dict[str, Any]:
    """Returns a pending_invoice_created of a new customer and invoice, with one line item unless others are given."""
    body: dict[str, Any] = json.loads((SAMPLES / "default.json").read_bytes())
    unique = uuid.uuid4().hex[:16]
    body["id"] = f"ev_{unique}"
    defaults: dict[str, Any] = {"id": f"draft_inv_{unique}", "customer_id": f"cus_{unique}", "line_items": [line(1)]}
    defaults |= {"subscription_id": SUBSCRIPTION}
    body["content"]["invoice"] = body["content"]["invoice"] | defaults | invoice
    return body


def event_of(body: dict[str, Any]) -> Event:
    return Event.model_validate_json(json.dumps(body))


def again(body: dict[str, Any], **invoice: Any) -> dict[str, Any]:
    """Another event of the same invoice."""
    content = {"invoice": body["content"]["invoice"] | invoice}
    return body | {"id": f"ev_{uuid.uuid4().hex[:16]}", "content": content}


def some(count: int, at: int = START, **attributes: Any) -> list[Billable]:
    """Returns usage of the subscription of `event_body`. `attributes`: others for all of it."""
    named = {"subscription_id": SUBSCRIPTION} | attributes
    return [Billable(f"b{number}", 100 + number, f"Usage {number}", at + number, **named) for number in range(count)]


def item_of(customer_id: str, billable: Billable) -> dict[str, Any]:
    """The usage item of a billable event, as its writer writes it."""
    names = ("id", "amount", "description", "occurred_at", "currency", "subscription_id")
    return laptop.SeededBillable(customer_id=customer_id, **{name: getattr(billable, name) for name in names}).item()


async def has_begun(worker: Billing) -> None:
    """Waits until the worker adds its first charge. Call this function before the worker's task runs."""
    begun, send = asyncio.Event(), worker.chargebee._calls._send

    async def noticed(method: str, path: str, *request: Any) -> Any:
        if path.endswith("/add_charge"):
            begun.set()
        return await send(method, path, *request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker.chargebee._calls, "_send", noticed)
        await begun.wait()


class Stage(NamedTuple):
    """One table, and the stand-in. `calls`: the records of the finished calls of the worker that was opened last."""

    dynamodb: "DynamoDBClient"
    table: str
    api: ChargebeeApi
    calls: list[CallRecord]

    def tries(self, system: str) -> Counter[str]:
        """Returns the number of tries for each operation in the calls to `system`: "Chargebee" or "DynamoDB"."""
        found: Counter[str] = Counter()
        for call in self.calls:
            if call.system.name == system:
                found[call.operation] += 1 + call.retries
        return found

    def put(self, customer_id: str, billables: Sequence[Billable]) -> None:
        for billable in billables:
            self.dynamodb.put_item(TableName=self.table, Item=item_of(customer_id, billable))

    def register(self, *bodies: dict[str, Any]) -> None:
        entries = [{"event": body} for body in bodies]
        httpx.put(f"{self.api.url}/_/invoices", json=entries, verify=NO_CAS, timeout=60).raise_for_status()

    def behave(self, **behaviour: Any) -> None:
        httpx.put(f"{self.api.url}/_/behaviour", json=behaviour, verify=NO_CAS, timeout=60).raise_for_status()

    def audit(self) -> dict[str, Any]:
        answer: dict[str, Any] = httpx.get(f"{self.api.url}/_/audit", verify=NO_CAS, timeout=60).json()
        return answer

    def invoice(self, invoice_id: str) -> dict[str, Any]:
        return next(one for one in self.audit()["invoices"] if one["id"] == invoice_id)

    def close(self, invoice_id: str) -> None:
        """Closes the invoice as a person does in Chargebee."""
        self.correct(f"invoices/{invoice_id}/close")

    def correct(self, path: str, **data: str) -> Any:
        """Does in Chargebee what a person does, with an operation of its API, and returns the answer's invoice."""
        answer = httpx.post(
            f"{self.api.url}/api/v2/{path}", data=data, auth=(self.api.api_key, ""), verify=NO_CAS, timeout=60
        )
        return answer.raise_for_status().json()["invoice"]

    def subscribe(self, customer_id: str, subscription_id: str, **fields: Any) -> None:
        """Gives the customer a subscription that no invoice names."""
        document = {"id": subscription_id, "customer_id": customer_id, "status": "active", **fields}
        httpx.put(f"{self.api.url}/_/subscriptions", json=[document], verify=NO_CAS, timeout=60).raise_for_status()

    def items(self, customer_id: str) -> list[Any]:
        return self.dynamodb.query(
            TableName=self.table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"customer#{customer_id}"}},
        )["Items"]

    def billables(self, customer_id: str) -> list[Billable]:
        """Returns the customer's usage in the order of time, as its charge item has it if an invoice has the usage.

        Leaves out usage that cannot be charged.
        """
        items = self.items(customer_id)
        charges = {suffix_of(one): one for one in items if one["sk"]["S"].startswith("charge#") and "invoice_id" in one}
        found = []
        for one in items:
            if suffix_of(one) in charges and one["sk"]["S"].startswith("billable#"):
                found.append(charge_items.read(customer_id, charges[suffix_of(one)]))
            elif one["sk"]["S"].startswith("billable#"):
                with suppress(Unprocessable):
                    found.append(chargeable(customer_id, one))
        return found

    def charge(self, customer_id: str, billable: Billable) -> dict[str, Any]:
        """Returns the charge item of a billable event, or {}."""
        key = charge_key(customer_id, billable.suffix)
        return dict(self.dynamodb.get_item(TableName=self.table, Key=key).get("Item", {}))

    def claim(self, event_id: str) -> Any:
        return self.dynamodb.get_item(TableName=self.table, Key=claim_key(event_id)).get("Item", {})

    def end_leases(self, body: dict[str, Any]) -> None:
        """Ends the leases, as if APP_BILLING_LEASE had passed since the last renewal."""
        for key in (claim_key(body["id"]), invoice_key(body["content"]["invoice"]["id"])):
            if "Item" in self.dynamodb.get_item(TableName=self.table, Key=key):
                self.set(key, "lease_until", {"N": "1"})

    def set(self, key: dict[str, Any], name: str, value: Any) -> None:
        self.dynamodb.update_item(
            TableName=self.table,
            Key=key,
            UpdateExpression="SET #name = :value",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":value": value},
        )

    def require_billed_once(self, body: dict[str, Any], billables: Sequence[Billable]) -> None:
        """Asserts that each charge is on the invoice once, the invoice was closed once, and the table says so."""
        invoice = body["content"]["invoice"]
        found = self.invoice(invoice["id"])
        assert sorted(charge["billable"] for charge in found["charges"]) == sorted(one.id for one in billables)
        assert len(found["closes"]) == 1
        in_table = {one.id: one for one in self.billables(invoice["customer_id"])}
        for billable in billables:
            assert in_table[billable.id].invoice_id == invoice["id"]
            assert in_table[billable.id].billed_at is not None
        assert self.claim(body["id"])["status"] == {"S": "done"}
