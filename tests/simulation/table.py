"""A DynamoDB table in memory: conditional writes, transactions and consistent queries, as in aiobotocore's client.

The keys are `pk` and `sk`, both strings. Each method takes the parameters of the operation and returns its answer, or
raises the ClientError that the client would raise.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from tests.simulation.expressions import Invalid, Item, condition
from tests.simulation.updates import updated

Key = tuple[str, str]
ANSWERED = {"ResponseMetadata": {"RequestId": "simulated", "RetryAttempts": 0}}
FAILED = "ConditionalCheckFailed"


def refused(operation: str, code: str, message: str, **more: Any) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": message}, **ANSWERED, **more}
    return ClientError(response, operation)


class MemoryTable:
    """The table's items by key. `version` increases with each write."""

    def __init__(self) -> None:
        self.items: dict[Key, Item] = {}
        self.version = 0

    def put(self, item: Item) -> None:
        self.items[_key(item)] = item
        self.version += 1

    def find(self, key: Mapping[str, Any]) -> Item:
        """Returns the item with this key, or {}."""
        return self.items.get(_key(key), {})

    def update_item(self, **parameters: Any) -> dict[str, Any]:
        old = self.find(parameters["Key"])
        if not _is_met(parameters, old):
            item = {"Item": old} if old and "ReturnValuesOnConditionCheckFailure" in parameters else {}
            raise refused("UpdateItem", f"{FAILED}Exception", "The conditional request failed", **item)
        try:
            new = _changed(parameters, old)
        except Invalid as error:
            raise refused("UpdateItem", "ValidationException", str(error)) from None
        self.put(new)
        return {**ANSWERED, "Attributes": new} if parameters.get("ReturnValues") == "ALL_NEW" else dict(ANSWERED)

    def transact_write_items(self, TransactItems: Sequence[Any]) -> dict[str, Any]:  # noqa: N803  # AWS's name
        actions = [action["Update"] for action in TransactItems]
        reasons, new = [], []
        for action in actions:
            old = self.find(action["Key"])
            reason: dict[str, Any] = {"Code": "None"}
            if not _is_met(action, old):
                reason = {"Code": FAILED, "Message": "The conditional request failed", **({"Item": old} if old else {})}
            else:
                try:
                    new.append(_changed(action, old))
                except Invalid as error:
                    reason = {"Code": "ValidationError", "Message": str(error)}
            reasons.append(reason)
        if len(new) < len(actions):
            message = f"Transaction cancelled, reasons [{', '.join(reason['Code'] for reason in reasons)}]"
            raise refused("TransactWriteItems", "TransactionCanceledException", message, CancellationReasons=reasons)
        for item in new:
            self.put(item)
        return dict(ANSWERED)

    def query(self, **parameters: Any) -> dict[str, Any]:
        names, values = parameters["ExpressionAttributeNames"], parameters["ExpressionAttributeValues"]
        wanted = condition(parameters["KeyConditionExpression"])
        kept = condition(parameters.get("FilterExpression", "attribute_exists(pk)"))
        found = [item for _, item in sorted(self.items.items()) if wanted(item, names, values)]
        return {**ANSWERED, "Items": [item for item in found if kept(item, names, values)]}

    def batch_get_item(self, RequestItems: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803  # AWS's name
        [(table, wanted)] = RequestItems.items()
        found = [self.items[_key(key)] for key in wanted["Keys"] if _key(key) in self.items]
        return {**ANSWERED, "Responses": {table: found}, "UnprocessedKeys": {}}


def _key(item: Mapping[str, Any]) -> Key:
    return item["pk"]["S"], item["sk"]["S"]


def _is_met(parameters: Mapping[str, Any], old: Item) -> bool:
    if "ConditionExpression" not in parameters:
        return True
    met = condition(parameters["ConditionExpression"])
    return met(old, parameters.get("ExpressionAttributeNames", {}), parameters.get("ExpressionAttributeValues", {}))


def _changed(parameters: Mapping[str, Any], old: Item) -> Item:
    names, values = parameters.get("ExpressionAttributeNames", {}), parameters.get("ExpressionAttributeValues", {})
    return updated(old or dict(parameters["Key"]), parameters["UpdateExpression"], names, values)
