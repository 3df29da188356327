"""Implements the API's operations. Each operation takes the request's parameters, and returns JSON or raises ApiError.

https://apidocs.chargebee.com/docs/api/invoices documents the operations add_charge, close and retrieve. The stand-in
stores the invoices in memory.
"""

import secrets
from collections import Counter
from collections.abc import Mapping
from typing import Any

from local.chargebee import api_errors
from local.chargebee.charge import Charge
from local.chargebee.invoice import PENDING, StoredInvoice
from local.chargebee.list_events import Events
from local.chargebee.params import number, offset, page, text
from local.chargebee.subscriptions import Subscriptions

MOST_LINE_ITEMS = 300
_LONGEST_DESCRIPTION = 250
_LATEST = 10**11


class Site:
    """The invoices and events of a Chargebee site, in memory.

    `invoices` contains all invoices by id, including deleted invoices; the invoice that changed last is at the end.
    `events` contains the events for the operation List Events. `revision` increases with each change of an invoice.
    """

    def __init__(self) -> None:
        self.invoices: dict[str, StoredInvoice] = {}
        self._numbered: dict[str, StoredInvoice] = {}
        self.events = Events()
        self.subscriptions = Subscriptions()
        self.revision = 0
        self._counted = (0, {"pending": 0, "charging": 0, "closed": 0, "void": 0})

    def counts(self) -> dict[str, int]:
        """Returns the number of invoices in each stage: `pending`, `charging`, `closed` and `void`.

        In the stage `charging`, an invoice is pending and already has added charges. In the stage `void`, an invoice
        was voided or deleted.
        """
        if self._counted[0] != self.revision:
            counted = Counter(invoice.stage for invoice in self.invoices.values())
            self._counted = self.revision, {stage: counted[stage] for stage in self._counted[1]}
        return self._counted[1]

    def register(self, entry: dict[str, Any], at: float) -> StoredInvoice | None:
        """Adds the invoice in `entry` to the site. Returns the invoice, or None if it was not added.

        `entry` is an invoice, or `{"event": …, "more_line_items": […]}` with a webhook as `event`. No invoice is added
        if the site already has one with this id, or if the webhook contains no pending invoice. The site stores the
        webhook's event in any case. Raises ApiError if `entry` is invalid.
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
        self.subscriptions.found_on(invoice)
        self.changed(invoice)
        return invoice

    def retrieve(self, invoice_id: str, params: Mapping[str, str]) -> bytes:
        limit = number(params, "line_items_limit", 1, MOST_LINE_ITEMS, MOST_LINE_ITEMS)
        start = offset(params, "line_items_offset")
        if start and not start[-1].isdecimal():
            raise api_errors.wrong_value("line_items_offset", "is not the next_offset of an earlier answer")
        return self.invoice(invoice_id).page(int(start[-1]) if start else 0, limit)

    def add_charge(self, invoice_id: str, params: Mapping[str, str], key: str | None, at: float) -> bytes:
        invoice = self.invoice(invoice_id)
        amount = number(params, "amount", 1, 10**12, None)
        description = text(params, "description", _LONGEST_DESCRIPTION)
        date_from = number(params, "line_item[date_from]", 0, _LATEST, int(at))
        date_to = number(params, "line_item[date_to]", date_from, _LATEST, max(date_from, int(at)))
        subscription = params.get("subscription_id")
        # Chargebee documents the parameter `subscription_id` for invoices that bill several subscriptions. It does not
        # document which error it returns if the invoice does not bill the given subscription.
        if subscription is not None and subscription not in invoice.terms:
            raise api_errors.wrong_value("subscription_id", f"the invoice {invoice_id} has no such subscription")
        self.require_pending(invoice, "charges can only be added to a pending invoice")
        customer = invoice.customer_id if subscription is None else invoice.terms[subscription].customer_id
        made = f"li_{secrets.token_hex(8)}"
        self.changed(invoice)
        invoice.add(Charge(made, amount, description, key, at, customer, subscription, date_from, date_to))
        return invoice.page(0, MOST_LINE_ITEMS)

    def list_invoices(self, params: Mapping[str, str]) -> bytes:
        """Returns a page of a customer's invoices, the latest change first.

        `params` contains the customer's id, and may contain the time after which the invoices must have changed. The
        page contains no deleted invoices. Chargebee's API also leaves them out without the parameter `include_deleted`.
        """
        customer = text(params, "customer_id[is]", 50)
        after = number(params, "updated_at[after]", 0, _LATEST, 0)
        found = [
            invoice
            for invoice in reversed(self.invoices.values())
            if invoice.customer_id == customer and invoice.updated_at > after and not invoice.deleted
        ]
        return page(found, params, lambda invoice: invoice.page(0, MOST_LINE_ITEMS))

    def close(self, invoice_id: str, key: str | None, at: float, *, renumber: bool = False) -> bytes:
        invoice = self.invoice(invoice_id)
        self.require_pending(invoice, "only a pending invoice can be closed")
        if not invoice.line_items:
            raise api_errors.invalid_request(f"The invoice {invoice_id} has no line items: it cannot be closed")
        self.changed(invoice)
        next_number = self._next_number() if renumber else None
        invoice.close(key, at, next_number)
        if next_number is not None:
            self._numbered[next_number] = invoice
        return invoice.page(0, MOST_LINE_ITEMS)

    def _next_number(self) -> str:
        number = len(self._numbered) + 1
        while str(number) in self.invoices:  # a registered invoice may already have this id
            number += 1
        return str(number)

    def changed(self, invoice: StoredInvoice) -> None:
        """Gives the invoice a new revision, and puts it at the end of `invoices`. Call this once for each change."""
        self.revision += 1
        invoice.revise(self.revision)
        self.invoices.pop(invoice.id, None)
        self.invoices[invoice.id] = invoice

    def invoice(self, invoice_id: str) -> StoredInvoice:
        """Returns the invoice with this id. Raises ApiError (404) if there is none, or if the invoice was deleted.

        If the invoice got a new id when it was closed, only the new id finds it.
        """
        invoice = self._numbered.get(invoice_id) or self.invoices.get(invoice_id)
        if invoice is None or invoice.deleted or invoice.number not in (None, invoice_id):
            raise api_errors.not_found(invoice_id)
        return invoice

    def require_pending(self, invoice: StoredInvoice, rule: str) -> None:
        """Raises ApiError (409) if the invoice is not pending. The error's message contains the sentence `rule`."""
        if invoice.status != PENDING:
            raise api_errors.invalid_state(f"The invoice {invoice.number or invoice.id} is {invoice.status}: {rule}")
