"""Corrects wrong invoices, as a person does: voids, deletes or regenerates an invoice, or changes its line items.

Each correction is an operation of Chargebee's API, except `edit_line_item`, which is a control path. The rules are
documented at https://apidocs.chargebee.com/docs/api/invoices/void-an-invoice, …/invoices/delete-an-invoice and
…/subscriptions/regenerate-an-invoice. For example, an invoice that is still pending can be deleted, but not voided.
"""

import re
import secrets
from collections.abc import Mapping
from typing import Any

import orjson

from local.chargebee import api_errors
from local.chargebee.invoice import PENDING, VOIDED, StoredInvoice
from local.chargebee.operations import MOST_LINE_ITEMS, Site
from local.chargebee.terms import is_of_a_term

_CAN_BE_VOIDED = {"payment_due", "posted", "not_paid"}
_RENEWED = {"active", "non_renewing"}
_LINE = re.compile(r"line_items\[id\]\[\d+\]")
_AMOUNTS = {"sub_total", "total", "amount_due", "amount_to_collect"}


class Corrections:
    """Corrects invoices of `site`."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def void(self, invoice_id: str, at: float) -> bytes:
        invoice = self._site.invoice(invoice_id)
        if invoice.status not in _CAN_BE_VOIDED:
            raise api_errors.invalid_state(f"The invoice {invoice_id} is {invoice.status}: it cannot be voided")
        return self._end(invoice, VOIDED, at)

    def delete(self, invoice_id: str, at: float) -> bytes:
        invoice = self._site.invoice(invoice_id)
        invoice.deleted = True
        return self._end(invoice, invoice.status, at)

    def delete_line_items(self, invoice_id: str, params: Mapping[str, str], at: float) -> bytes:
        return self._change_lines(invoice_id, {params[name]: None for name in params if _LINE.fullmatch(name)}, at)

    def edit_line_item(self, invoice_id: str, line_id: str, changes: dict[str, Any], at: float) -> bytes:
        """Changes fields of a line item, such as `amount` or `description`. The invoice must be pending."""
        return self._change_lines(invoice_id, {line_id: changes}, at)

    def regenerate(self, subscription_id: str, at: float) -> bytes:
        """Makes a new pending invoice, which replaces the subscription's invoice for the current term.

        Raises ApiError if the old invoice was not voided or deleted, or if the subscription's status is not in
        _RENEWED. The new invoice contains the old invoice's line items for this subscription, but no one-time charges.
        List Events returns the event about the new invoice, but the stand-in sends no webhook.
        """
        if (status := self._site.subscriptions.status(subscription_id)) not in _RENEWED:
            raise api_errors.invalid_state(f"The subscription {subscription_id} is {status}")
        billed = [one for one in self._site.invoices.values() if subscription_id in one.terms]
        current = max((one.terms[subscription_id].date_to for one in billed), default=0)
        of_the_term = [one for one in billed if one.terms[subscription_id].date_to == current]
        if not of_the_term or any(not one.is_void for one in of_the_term):
            raise api_errors.invalid_state(
                f"The invoice of the current term of the subscription {subscription_id} is not voided or deleted"
            )
        document = _regenerated(of_the_term[-1], subscription_id, at)
        self._site.register(document, at)
        done = self._site.invoice(document["id"]).page(0, MOST_LINE_ITEMS)
        self._site.events.add(_event(orjson.loads(done), at))
        return done

    def _end(self, invoice: StoredInvoice, status: str, at: float) -> bytes:
        invoice.status, invoice.updated_at = status, at
        self._site.changed(invoice)
        return invoice.page(0, MOST_LINE_ITEMS)

    def _change_lines(self, invoice_id: str, lines: dict[str, dict[str, Any] | None], at: float) -> bytes:
        invoice = self._site.invoice(invoice_id)
        self._site.require_pending(invoice, "only the line items of a pending invoice can be changed")
        missing = lines.keys() - invoice.line_ids()
        if missing or not lines:
            raise api_errors.wrong_value("line_items", f"no line items of the invoice {invoice_id}: {sorted(missing)}")
        for line_id, changes in lines.items():
            invoice.change_line(line_id, changes, at)
        self._site.changed(invoice)
        return invoice.page(0, MOST_LINE_ITEMS)


def _regenerated(old: StoredInvoice, subscription_id: str, at: float) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads(old.document)
    own = document.get("subscription_id")
    items = [*map(orjson.loads, old.line_items)]
    kept = [one for one in items if is_of_a_term(one) and (one.get("subscription_id") or own) == subscription_id]
    dropped = sum(one.get("amount", 0) for one in items if one not in kept)
    document |= {name: document[name] + old.added - dropped for name in _AMOUNTS & document.keys()}
    return document | {
        "id": f"draft_inv_{secrets.token_hex(8)}",
        "status": PENDING,
        "date": int(at),
        "updated_at": int(at),
        "resource_version": int(at * 1000),
        "line_items": [one | {"id": f"li_{secrets.token_hex(8)}"} for one in kept],
    }


def _event(content: dict[str, Any], at: float) -> dict[str, Any]:
    return {
        "id": f"ev_{secrets.token_hex(8)}",
        "occurred_at": int(at),
        "source": "admin_console",
        "object": "event",
        "api_version": "v2",
        "content": content,
        "event_type": "pending_invoice_created",
        "webhook_status": "scheduled",
    }
