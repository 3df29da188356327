"""Builds keys and conditional updates of the table's items, and reads the items' attributes, without I/O.

README.md in this folder describes the items. The key attributes `pk` and `sk` are strings.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

Key = dict[str, Any]
Item = Mapping[str, Any]
Value = str | int | Decimal

RATE: Key = {"pk": {"S": "rate#chargebee"}, "sk": {"S": "budget"}}


def claim_key(event_id: str) -> Key:
    return {"pk": {"S": f"event#{event_id}"}, "sk": {"S": "claim"}}


def invoice_key(invoice_id: str) -> Key:
    return {"pk": {"S": f"invoice#{invoice_id}"}, "sk": {"S": "order"}}


def text(item: Item, name: str) -> str | None:
    return item[name]["S"] if name in item else None


def number(item: Item, name: str) -> int | None:
    return int(item[name]["N"]) if name in item else None


def typed(value: Value) -> dict[str, str]:
    return {"S": value} if isinstance(value, str) else {"N": str(value)}


def placeholders(expressions: str, values: Mapping[str, Value]) -> dict[str, Any]:
    """Returns the parameters that define each `#name` and each `:name` in `expressions`.

    The expressions write each attribute as `#name`, because several names are reserved words of DynamoDB. At least one
    value is required, because DynamoDB rejects an empty ExpressionAttributeValues.
    """
    return {
        "ExpressionAttributeNames": {f"#{name}": name for name in sorted(set(re.findall(r"#(\w+)", expressions)))},
        "ExpressionAttributeValues": {f":{name}": typed(value) for name, value in values.items()},
    }


class Update:
    """A conditional change of one item. `change` and `condition` are expressions of DynamoDB.

    `values`: the value of each `:name` in the expressions. At least one value is required (see `placeholders`).
    """

    def __init__(self, key: Key, change: str, condition: str, /, **values: Value) -> None:
        self.key, self.change, self.condition, self.values = key, change, condition, values

    def parameters(self, table: str) -> dict[str, Any]:
        """Returns the parameters of UpdateItem, or of an Update within TransactWriteItems."""
        return {
            "TableName": table,
            "Key": self.key,
            "UpdateExpression": self.change,
            "ConditionExpression": self.condition,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **placeholders(f"{self.change} {self.condition}", self.values),
        }
