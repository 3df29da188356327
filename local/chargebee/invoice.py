"""Stores an invoice of the Chargebee stand-in, with its line items, its added charges and its status."""

from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from local.chargebee import api_errors
from local.chargebee.charge import Charge
from local.chargebee.terms import Term, terms

PENDING, VOIDED = "pending", "voided"
# Maximum number of characters of an id: https://apidocs.chargebee.com/docs/api/invoices/invoice-object#id
_LONGEST_ID = 50
_AMOUNTS = ("sub_total", "total", "amount_due", "amount_to_collect")


@dataclass
class StoredInvoice:
    """An invoice of the stand-in. `number`: the new id that the invoice got when it was closed, or None.

    `document` is the invoice without line items, and never changes. It is JSON text, because ten thousand invoices as
    dicts would take 300 MB. The method `page` returns `document` with one page of the line items, and with the current
    status and amounts. `total` is the total in `document`, and `added` is the sum of all later changes of the total.
    `terms` contains the billed period of each subscription, by subscription id. A deleted invoice stays stored, because
    audits need it.
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
    added: int = 0
    deleted: bool = False
    terms: dict[str, Term] = field(default_factory=dict)
    charges: list[Charge] = field(default_factory=list)
    closes: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, document: dict[str, Any], more_line_items: list[dict[str, Any]], at: float) -> "StoredInvoice":
        """Creates a stored invoice from `document`, which is an invoice in Chargebee's format. `at` is the unix time.

        `more_line_items` are the invoice's line items that `document` does not contain. Raises ApiError if `document`
        has no valid `id` or `customer_id`, or if its total is not an integer.
        """
        rest = {name: value for name, value in document.items() if not name.startswith("line_items")}
        for name in ("id", "customer_id"):
            if not isinstance(rest.get(name), str) or not 0 < len(rest[name]) <= _LONGEST_ID:
                raise api_errors.wrong_value(name, f"every invoice must have this field, of {_LONGEST_ID} characters")
        items = [*document.get("line_items", []), *more_line_items]
        total = rest.get("total", rest.get("sub_total", 0))
        if not isinstance(total, int):
            raise api_errors.wrong_value("total", "should be a number")
        made = cls(rest["id"], rest["customer_id"], orjson.dumps(rest), [*map(orjson.dumps, items)], total, at)
        return replace(made, status=rest.get("status", PENDING), updated_at=at, terms=terms(rest, items))

    @property
    def is_void(self) -> bool:
        """Returns whether the invoice was voided or deleted."""
        return self.deleted or self.status == VOIDED

    @property
    def stage(self) -> str:
        if self.is_void:
            return "void"
        return ("charging" if self.charges else "pending") if self.status == PENDING else "closed"

    def revise(self, revision: int) -> None:
        self.revision = revision

    @property
    def closed_at(self) -> float | None:
        return self.closes[0]["at"] if self.closes else None

    def add(self, charge: Charge) -> None:
        self.charges.append(charge)
        self.line_items.append(orjson.dumps(charge.line_item()))
        self.added += charge.amount
        self.updated_at = charge.at

    def line_ids(self) -> set[str]:
        return {item["id"] for item in map(orjson.loads, self.line_items) if "id" in item}

    def change_line(self, line_id: str, changes: dict[str, Any] | None, at: float) -> None:
        """Changes fields of a line item, or removes it if `changes` is None. The invoice must have the line item."""
        items = [orjson.loads(item) for item in self.line_items]
        index = next(index for index, item in enumerate(items) if item.get("id") == line_id)
        changed = [] if changes is None else [items[index] | changes]
        self.line_items[index : index + 1] = map(orjson.dumps, changed)
        self.added += sum(item.get("amount", 0) for item in changed) - items[index].get("amount", 0)
        self.charges = [new for one in self.charges for new in (one.changed(changed) if one.id == line_id else [one])]
        self.updated_at = at

    def close(self, idempotency_key: str | None, at: float, number: str | None = None) -> None:
        """Closes the invoice at the unix time `at`. `number`: the invoice's new id, or None if it keeps its id."""
        self.status = "payment_due" if self.total + self.added > 0 else "paid"
        self.number = number
        self.closes.append({"idempotency_key": idempotency_key, "at": round(at, 3)})
        self.updated_at = at

    def page(self, start: int, limit: int) -> bytes:
        """Returns the invoice as Chargebee's API does, with at most `limit` line items, beginning at index `start`."""
        shown: dict[str, Any] = orjson.loads(self.document)
        for name in _AMOUNTS:
            shown[name] = shown.get(name, 0) + self.added
        if self.is_void:
            shown |= {"amount_due": 0, "amount_to_collect": 0}
        shown |= {"id": self.number or self.id, "status": self.status, "deleted": self.deleted}
        shown |= {"updated_at": int(self.updated_at), "resource_version": int(self.updated_at * 1000)}
        shown["line_items"] = [orjson.Fragment(item) for item in self.line_items[start : start + limit]]
        if start + limit < len(self.line_items):
            shown["line_items_next_offset"] = orjson.dumps([self.id, str(start + limit)]).decode()
        return orjson.dumps({"invoice": shown})

    def summary(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "number": self.number,
            "customer_id": self.customer_id,
            "status": self.status,
            "deleted": self.deleted,
            "stage": self.stage,
            "charges": len(self.charges),
            "total": self.total + self.added,
            "currency_code": orjson.loads(self.document).get("currency_code"),
            "registered_at": round(self.registered_at, 3),
            "closed_at": self.closed_at,
        }

    def audited(self) -> dict[str, Any]:
        return self.summary() | {"charges": [charge.shown() for charge in self.charges], "closes": self.closes}
