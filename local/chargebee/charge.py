"""Defines a charge that was added to an invoice of the Chargebee stand-in."""

import re
from dataclasses import dataclass, replace
from typing import Any

# Finds the billable event's id in a charge's description. A billable event is usage that a charge bills.
# `app.billing` writes the event's id and time at the end of the description.
_BILLABLE = re.compile(r" \[billable:([^\[\]]+)@\d+\]$")


@dataclass(frozen=True)
class Charge:
    """A charge that was added to an invoice at the unix time `at`; `amount` is in minor units, such as cents.

    `customer_id` is the owner of the subscription, or the invoice's customer if `subscription_id` is None. In an
    account hierarchy, the owner can be another customer than the invoice's customer. The service period is from
    `date_from` to `date_to`, which are unix times.
    """

    id: str
    amount: int
    description: str
    idempotency_key: str | None
    at: float
    customer_id: str
    subscription_id: str | None
    date_from: int
    date_to: int

    def shown(self) -> dict[str, Any]:
        """Returns the charge for `GET /_/audit`. Adds `billable`: the id of the charge's billable event, or None."""
        found = _BILLABLE.search(self.description)
        return {**vars(self), "at": round(self.at, 3), "billable": found[1] if found else None}

    def changed(self, items: list[dict[str, Any]]) -> list["Charge"]:
        """Returns a list with the changed charge, or an empty list if the charge's line item was removed.

        `items` contains the changed line item, or nothing if the line item was removed.
        """
        names = ("amount", "description", "date_from", "date_to")
        return [replace(self, **{name: item[name] for name in names}) for item in items]

    def line_item(self) -> dict[str, Any]:
        """Returns the charge as a line item, in Chargebee's format."""
        subscription = {} if self.subscription_id is None else {"subscription_id": self.subscription_id}
        return {
            "id": self.id,
            "date_from": self.date_from,
            "date_to": self.date_to,
            "unit_amount": self.amount,
            "quantity": 1,
            "amount": self.amount,
            "pricing_model": "flat_fee",
            "is_taxed": False,
            "tax_amount": 0,
            "object": "line_item",
            "customer_id": self.customer_id,
            **subscription,
            "description": self.description,
            "entity_type": "adhoc",
            "discount_amount": 0,
            "item_level_discount_amount": 0,
        }
