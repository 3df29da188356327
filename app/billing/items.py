"""Builds the keys of the table's items, and the updates that claim an event or lease an invoice, without I/O.

README.md in this folder describes the items. The key attributes `pk` and `sk` are strings. Times are in unix ms, except
for `expires`, which is in unix seconds.
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


class Update:
    """A conditional change of one item. `change` and `condition` are expressions of DynamoDB.

    The expressions write an attribute as `#name`, because several names are reserved words of DynamoDB. `values`: the
    value of each `:name` in the expressions.
    """

    def __init__(self, key: Key, change: str, condition: str, /, **values: Value) -> None:
        self.key, self.change, self.condition, self.values = key, change, condition, values

    def parameters(self, table: str) -> dict[str, Any]:
        """Returns the parameters of UpdateItem, or of an Update within TransactWriteItems."""
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


def claim(event_id: str, owner: str, *, until: int, free: int, expires: int) -> Update:
    """Returns the update that claims an event for `owner` until the time `until`.

    The update succeeds if no attempt has claimed the event, or if the event is not done and the lease of the earlier
    claim ended before the time `free`. DynamoDB deletes the item after `expires`. `until` and `free` are in unix ms,
    `expires` is in unix seconds.
    """
    return Update(
        claim_key(event_id),
        "SET #owner = :owner, #lease_until = :until, #status = :working, #expires_at = :expires ADD #attempts :one",
        "attribute_not_exists(#pk) OR (#status = :working AND #lease_until < :free)",
        owner=owner,
        until=until,
        working="working",
        expires=expires,
        one=1,
        free=free,
    )


def recorded(event_id: str, owner: str, outcome: str, *, expires: int) -> Update:
    """Returns the update that marks an unclaimed event as done, because the event needs no billing work."""
    return Update(
        claim_key(event_id),
        "SET #owner = :owner, #status = :done, #outcome = :outcome, #expires_at = :expires",
        "attribute_not_exists(#pk) OR #owner = :owner",
        owner=owner,
        done="done",
        outcome=outcome,
        expires=expires,
    )


def take_invoice(
    invoice_id: str, event_id: str, owner: str, version: int | None, *, until: int, free: int, expires: int
) -> Update:
    """Returns the update that leases an invoice to an event, unless a version newer than `version` was processed.

    The update replaces an earlier lease that ended before the time `free`. It also replaces a lease of the same event.
    No other attempt uses such a lease, because only one attempt at a time can have the claim on the event.
    """
    unless_leased = "(attribute_not_exists(#lease_until) OR #lease_until < :free OR #event_id = :event)"
    unless_newer = "(attribute_not_exists(#resource_version) OR #resource_version <= :version)"
    return Update(
        invoice_key(invoice_id),
        "SET #owner = :owner, #lease_until = :until, #event_id = :event, #expires_at = :expires",
        unless_leased if version is None else f"{unless_newer} AND {unless_leased}",
        owner=owner,
        until=until,
        event=event_id,
        expires=expires,
        free=free,
        **({} if version is None else {"version": version}),
    )


def renewals(event_id: str, invoice_id: str | None, owner: str, until: int) -> list[Update]:
    """Returns the updates that extend the lease on an event and, if `invoice_id` is not None, on its invoice."""
    keys = [claim_key(event_id)] + ([invoice_key(invoice_id)] if invoice_id is not None else [])
    return [Update(key, "SET #lease_until = :until", "#owner = :owner", until=until, owner=owner) for key in keys]


def done(event_id: str, owner: str, outcome: str, *, expires: int) -> Update:
    """Returns the update that marks a claimed event as done."""
    return Update(
        claim_key(event_id),
        "SET #status = :done, #outcome = :outcome, #lease_until = :ended, #expires_at = :expires"
        " REMOVE #code, #conflict_at",
        "#owner = :owner AND #status = :working",
        done="done",
        working="working",
        outcome=outcome,
        ended=0,
        expires=expires,
        owner=owner,
    )


def processed(invoice_id: str, owner: str, version: int | None, *, expires: int) -> Update:
    """Returns the update that ends the lease on an invoice, and stores the processed `version` unless it is None."""
    change, known = "SET #lease_until = :ended, #expires_at = :expires", {}
    if version is not None:
        change, known = f"{change}, #resource_version = :version", {"version": version}
    return Update(invoice_key(invoice_id), change, "#owner = :owner", ended=0, expires=expires, owner=owner, **known)


def released(event_id: str, invoice_id: str | None, owner: str, code: str, conflict_at: int | None) -> list[Update]:
    """Returns the updates that end the lease on a failed event and, if `invoice_id` is not None, on its invoice.

    The claim on the event stores `code`, the cause of the failure, and `conflict_at` (see `Lease`) unless it is None.
    """
    change, owned = "SET #lease_until = :ended", "#owner = :owner"
    failed, known = f"{change}, #code = :code REMOVE #conflict_at", {}
    if conflict_at is not None:
        failed, known = f"{change}, #code = :code, #conflict_at = :conflict_at", {"conflict_at": conflict_at}
    claim = Update(claim_key(event_id), failed, owned, ended=0, code=code, owner=owner, **known)
    if invoice_id is None:
        return [claim]
    return [claim, Update(invoice_key(invoice_id), change, owned, ended=0, owner=owner)]
