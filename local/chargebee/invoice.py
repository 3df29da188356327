"""Stores an invoice of the Chargebee stand-in, with its line items, its added charges and its status."""

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from local.chargebee import api_errors

PENDING = "pending"
_AMOUNTS = ("sub_total", "total", "amount_due", "amount_to_collect")
# Finds the id of the billable event (the customer's usage) for which a charge was added. `app.billing` writes the
# event's id and time at the end of the charge's description.
_BILLABLE = re.compile(r" \[billable:([^\[\]]+)@\d+\]$")


@dataclass(frozen=True)
class Charge:
    """A charge that was added to an invoice at the unix time `at`; `amount` is in minor units, such as cents."""

    id: str
    amount: int
    description: str
    idempotency_key: str | None
    at: float

    def shown(self) -> dict[str, Any]:
        found = _BILLABLE.search(self.description)
        return {**vars(self), "at": round(self.at, 3), "billable": found[1] if found else None}


@dataclass
class StoredInvoice:
    """An invoice of the stand-in. `number`: its id at Chargebee since it was closed, or None if it has kept its id.

    `document` is the invoice without line items, and never changes. It is JSON text, because ten thousand invoices as
    dicts would take 300 MB. The method `page` returns `document` with one page of the line
    items, and with the current status and amounts.
    """

    id: str
    customer_id: str
    document: bytes
    line_items: list[bytes]
    total: int
    registered_at: float
    status: str = PENDING
    updated_at: float = 0.0
    revision: int = 0
    number: str | None = None
    charges: list[Charge] = field(default_factory=list)
    closes: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, document: dict[str, Any], more_line_items: list[dict[str, Any]], at: float) -> "StoredInvoice":
        """Creates a stored invoice from `document`, an invoice in Chargebee's format, at the unix time `at`.

        `more_line_items` are the invoice's line items that `document` does not contain. Raises ApiError if `document`
        has no `id` or no `customer_id`, or a total that is no number.
        """
        rest = {name: value for name, value in document.items() if not name.startswith("line_items")}
        for name in ("id", "customer_id"):
            if not isinstance(rest.get(name), str) or not rest[name]:
                raise api_errors.wrong_value(name, "every invoice must have this field")
        items = [orjson.dumps(item) for item in [*document.get("line_items", []), *more_line_items]]
        total = rest.get("total", rest.get("sub_total", 0))
        if not isinstance(total, int):
            raise api_errors.wrong_value("total", "should be a number")
        status = rest.get("status", PENDING)
        return cls(rest["id"], rest["customer_id"], orjson.dumps(rest), items, total, at, status, at)

    @property
    def stage(self) -> str:
        return ("charging" if self.charges else "pending") if self.status == PENDING else "closed"

    def revise(self, revision: int) -> None:
        self.revision = revision

    @property
    def closed_at(self) -> float | None:
        return self.closes[0]["at"] if self.closes else None

    def add(self, charge: Charge, line_item: dict[str, Any]) -> None:
        self.charges.append(charge)
        self.line_items.append(orjson.dumps(line_item))
        self.updated_at = charge.at

    def close(self, idempotency_key: str | None, at: float, number: str | None = None) -> None:
        """Closes the invoice at the unix time `at`. With a `number`, that is its id from now on."""
        self.status = "payment_due" if self.total + self.charged > 0 else "paid"
        self.number = number
        self.closes.append({"idempotency_key": idempotency_key, "at": round(at, 3)})
        self.updated_at = at

    @property
    def charged(self) -> int:
        return sum(charge.amount for charge in self.charges)

    def page(self, start: int, limit: int) -> bytes:
        """Returns the invoice as Chargebee's API does, with at most `limit` line items, beginning at index `start`."""
        shown: dict[str, Any] = orjson.loads(self.document)
        for name in _AMOUNTS:
            shown[name] = shown.get(name, 0) + self.charged
        shown["id"] = self.number or self.id
        shown["status"] = self.status
        shown["updated_at"] = int(self.updated_at)
        shown["resource_version"] = int(self.updated_at * 1000)
        shown["line_items"] = [orjson.Fragment(item) for item in self.line_items[start : start + limit]]
        if start + limit < len(self.line_items):
            shown["line_items_next_offset"] = orjson.dumps([self.id, str(start + limit)]).decode()
        return orjson.dumps({"invoice": shown})

    def summary(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "customer_id": self.customer_id,
            "status": self.status,
            "stage": self.stage,
            "charges": len(self.charges),
            "total": self.total + self.charged,
            "currency_code": orjson.loads(self.document).get("currency_code"),
            "registered_at": round(self.registered_at, 3),
            "closed_at": self.closed_at,
        }

    def audited(self) -> dict[str, Any]:
        return self.summary() | {"charges": [charge.shown() for charge in self.charges], "closes": self.closes}
