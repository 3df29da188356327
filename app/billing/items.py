"""The items of the table, their keys, and updates of them: pure.

One table, `pk` and `sk` strings. README.md beside this file has the design.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from app.billing.charges import Billable
from app.billing.lines import Period
from app.errors import Unprocessable

Key = dict[str, Any]
Item = Mapping[str, Any]
Value = str | int | Decimal

RATE: Key = {"pk": {"S": "rate#chargebee"}, "sk": {"S": "budget"}}


def claim_key(event_id: str) -> Key:
    return {"pk": {"S": f"event#{event_id}"}, "sk": {"S": "claim"}}


def invoice_key(invoice_id: str) -> Key:
    return {"pk": {"S": f"invoice#{invoice_id}"}, "sk": {"S": "order"}}


def billable_key(customer_id: str, billable: Billable) -> Key:
    return {"pk": {"S": f"customer#{customer_id}"}, "sk": {"S": f"{_from(billable.occurred_at)}#{billable.id}"}}


def between(period: Period) -> tuple[str, str]:
    """Returns the sort keys that BETWEEN takes. No item has the upper key, because real keys end in `#<id>`."""
    return _from(period.start), _from(period.end + 1)


def _from(seconds: int) -> str:
    return f"billable#{seconds:010d}"


def chargeable(customer_id: str, item: Item) -> Billable:
    """Returns the billable event of an item. Raises Unprocessable if it cannot be charged, or not be found again."""
    try:
        billable = billable_of(item)
    except (KeyError, ValueError):
        raise Unprocessable("A billable event in the table lacks an attribute", "invalid_billable") from None
    billable.require_chargeable()
    if item["sk"] != billable_key(customer_id, billable)["sk"] or billable.invoice_id == "":
        raise Unprocessable(
            "A billable event's id or time differs from its key, or its invoice_id is empty", "invalid_billable"
        )
    return billable


def is_of_another(item: Item, invoice_id: str) -> bool:
    """Whether another invoice has the billable event. What is no text is for `chargeable` to refuse."""
    return item.get("invoice_id", {}).get("S") not in (None, "", invoice_id)


def billable_of(item: Item) -> Billable:
    """Raises KeyError or ValueError where the item has not the attributes of one."""
    return Billable(
        id=item["id"]["S"],
        amount=int(item["amount"]["N"]),
        description=item["description"]["S"],
        occurred_at=int(item["occurred_at"]["N"]),
        invoice_id=text(item, "invoice_id"),
        reserved_at=number(item, "reserved_at"),
        billed_at=number(item, "billed_at"),
    )


def item_of(customer_id: str, billable: Billable) -> dict[str, Any]:
    """A billable event that has not been billed."""
    values: dict[str, Value] = {
        "id": billable.id,
        "amount": billable.amount,
        "description": billable.description,
        "occurred_at": billable.occurred_at,
    }
    return billable_key(customer_id, billable) | {name: typed(value) for name, value in values.items()}


def text(item: Item, name: str) -> str | None:
    return item[name]["S"] if name in item else None


def number(item: Item, name: str) -> int | None:
    return int(item[name]["N"]) if name in item else None


def typed(value: Value) -> dict[str, str]:
    return {"S": value} if isinstance(value, str) else {"N": str(value)}


@dataclass(frozen=True)
class Update:
    """A conditional change of one item. Attributes are written `#name`, since several names are reserved words."""

    key: Key
    change: str
    condition: str
    values: dict[str, Value] = field(default_factory=dict)

    def parameters(self, table: str) -> dict[str, Any]:
        """Those of UpdateItem, and of an Update within TransactWriteItems."""
        names = sorted(set(re.findall(r"#(\w+)", f"{self.change} {self.condition}")))
        parameters: dict[str, Any] = {
            "TableName": table,
            "Key": self.key,
            "UpdateExpression": self.change,
            "ConditionExpression": self.condition,
            "ExpressionAttributeNames": {f"#{name}": name for name in names},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if self.values:
            parameters["ExpressionAttributeValues"] = {f":{name}": typed(value) for name, value in self.values.items()}
        return parameters


def update(key: Key, change: str, condition: str, **values: Value) -> Update:
    """`values`: those of `:name` in the change and the condition."""
    return Update(key, change, condition, values)
