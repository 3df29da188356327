"""Implements the API's operations. Each operation takes the request's parameters, and returns JSON or raises ApiError.

https://apidocs.chargebee.com/docs/api/invoices documents the operations add_charge, close and retrieve. The stand-in
stores the invoices in memory.
"""

import secrets
from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from local.chargebee import api_errors
from local.chargebee.invoice import PENDING, Charge, StoredInvoice
from local.chargebee.list_events import Events
from local.chargebee.params import number, offset, text

_MOST_LINE_ITEMS = 300
_LONGEST_DESCRIPTION = 250


class Site:
    """The invoices and events of a Chargebee site, in memory.

    `invoices` contains the invoices by id; the invoice that changed last is at the end. `events` contains the events
    for the operation List Events. `revision` increases with each change of an invoice.
    """

    def __init__(self) -> None:
        self.invoices: dict[str, StoredInvoice] = {}
        self._numbered: dict[str, StoredInvoice] = {}
        self.events = Events()
        self.revision = 0
        self._counted = (0, {"pending": 0, "charging": 0, "closed": 0})

    def counts(self) -> dict[str, int]:
        """Returns the number of invoices in each stage: `pending`, `charging` and `closed`.

        The stage `charging` means that the invoice is pending and that charges were added.
        """
        if self._counted[0] != self.revision:
            counted = Counter(invoice.stage for invoice in self.invoices.values())
            self._counted = self.revision, {stage: counted[stage] for stage in self._counted[1]}
        return self._counted[1]

    def register(self, entry: dict[str, Any], at: float) -> StoredInvoice | None:
        """Adds the invoice in `entry` to the site. Returns the invoice, or None if it was not added.

        `entry` is an invoice, or `{"event": …, "more_line_items": […]}` with a webhook as `event`. The invoice is not
        added if the site already has an invoice with its id, or if the webhook has no pending invoice. Raises ApiError
        if `entry` is invalid.
        """
        document = entry
        if "event" in entry:
            event = entry["event"]
            self.events.add(event)
            document = event.get("content", {}).get("invoice")
            if document is None or document.get("status") != PENDING:
                return None
        invoice = StoredInvoice.of(document, entry.get("more_line_items", []), at)
        if invoice.id in self.invoices:
            return None
        self._changed(invoice)
        return invoice

    def retrieve(self, invoice_id: str, params: Mapping[str, str]) -> bytes:
        limit = number(params, "line_items_limit", 1, _MOST_LINE_ITEMS, _MOST_LINE_ITEMS)
        start = offset(params, "line_items_offset")
        if start and not start[-1].isdecimal():
            raise api_errors.wrong_value("line_items_offset", "is not the next_offset of an earlier answer")
        return self._invoice(invoice_id).page(int(start[-1]) if start else 0, limit)

    def add_charge(self, invoice_id: str, params: Mapping[str, str], key: str | None, at: float) -> bytes:
        invoice = self._invoice(invoice_id)
        amount = number(params, "amount", 1, 10**12, None)
        description = text(params, "description", _LONGEST_DESCRIPTION)
        date_from = number(params, "line_item[date_from]", 0, 10**11, int(at))
        date_to = number(params, "line_item[date_to]", 0, 10**11, int(at))
        if invoice.status != PENDING:
            raise api_errors.invalid_state(
                f"The invoice {invoice_id} is {invoice.status}: charges can only be added to a pending invoice"
            )
        charge = Charge(f"li_{secrets.token_hex(8)}", amount, description, key, at)
        self._changed(invoice)
        invoice.add(charge, _line_item(charge, invoice.customer_id, date_from, date_to))
        return invoice.page(0, _MOST_LINE_ITEMS)

    def list_invoices(self, params: Mapping[str, str]) -> bytes:
        """Returns a page of the customer's invoices that have changed after a time, the one that changed last first."""
        limit = number(params, "limit", 1, 100, 10)
        customer = text(params, "customer_id[is]", 50)
        after = number(params, "updated_at[after]", 0, 10**11, 0)
        position = offset(params, "offset")
        if position and not position[-1].isdecimal():
            raise api_errors.wrong_value("offset", "is not the next_offset of an earlier answer")
        start = int(position[-1]) if position else 0
        found = [
            invoice
            for invoice in reversed(self.invoices.values())
            if invoice.customer_id == customer and invoice.updated_at > after
        ]
        shown = [orjson.Fragment(invoice.page(0, _MOST_LINE_ITEMS)) for invoice in found[start : start + limit]]
        page: dict[str, Any] = {"list": shown}
        if start + limit < len(found):
            page["next_offset"] = orjson.dumps([customer, str(start + limit)]).decode()
        return orjson.dumps(page)

    def close(self, invoice_id: str, key: str | None, at: float, *, renumber: bool = False) -> bytes:
        invoice = self._invoice(invoice_id)
        if invoice.status != PENDING:
            raise api_errors.invalid_state(
                f"The invoice {invoice_id} is {invoice.status}: only a pending invoice can be closed"
            )
        if not invoice.line_items:
            raise api_errors.invalid_request(f"The invoice {invoice_id} has no line items: it cannot be closed")
        self._changed(invoice)
        next_number = str(len(self._numbered) + 1) if renumber else None
        invoice.close(key, at, next_number)
        if next_number is not None:
            self._numbered[next_number] = invoice
        return invoice.page(0, _MOST_LINE_ITEMS)

    def _changed(self, invoice: StoredInvoice) -> None:
        self.revision += 1
        invoice.revise(self.revision)
        self.invoices.pop(invoice.id, None)
        self.invoices[invoice.id] = invoice

    def _invoice(self, invoice_id: str) -> StoredInvoice:
        invoice = self._numbered.get(invoice_id) or self.invoices.get(invoice_id)
        if invoice is None or invoice.number not in (None, invoice_id):
            raise api_errors.not_found(invoice_id)
        return invoice


def _line_item(charge: Charge, customer_id: str, date_from: int, date_to: int) -> dict[str, Any]:
    return {
        "id": charge.id,
        "date_from": date_from,
        "date_to": date_to,
        "unit_amount": charge.amount,
        "quantity": 1,
        "amount": charge.amount,
        "pricing_model": "flat_fee",
        "is_taxed": False,
        "tax_amount": 0,
        "object": "line_item",
        "customer_id": customer_id,
        "description": charge.description,
        "entity_type": "adhoc",
        "discount_amount": 0,
        "item_level_discount_amount": 0,
    }
