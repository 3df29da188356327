"""Reads invoices with Chargebee's own SDK, whose calls block the thread, for release v01."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from app.billing.chargebee_sdk import failing
from app.billing.line_items import Line

if TYPE_CHECKING:
    import chargebee

PENDING = "pending"
PAGE = 100  # the maximum of List Invoices: https://apidocs.chargebee.com/docs/api/invoices


class InvoiceState(NamedTuple):
    """An invoice's state at Chargebee: `pending` is True if its status is pending, and `lines` has all line items."""

    pending: bool
    lines: list[Line]


class BlockingInvoices:
    """Reads the site's invoices. Each method may raise BillingUnavailable."""

    def __init__(self, site: "chargebee.Chargebee") -> None:
        self._invoices: Any = site.Invoice

    def retrieve(self, invoice_id: str) -> InvoiceState:
        """Retrieves an invoice with the line items of all pages."""
        lines: list[Line] = []
        page: dict[str, Any] = {}
        while True:
            with failing("Chargebee"):
                invoice = self._invoices.retrieve(invoice_id, page).invoice
            lines += invoice.line_items or []
            offset = _next_offset(invoice)
            if offset is None:
                return InvoiceState(invoice.status == PENDING, lines)
            page = {"line_items_offset": offset}

    def closed(self, customer_id: str, since: int) -> Iterator[InvoiceState]:
        """Yields the customer's invoices that are not pending and have changed after `since`, in unix seconds."""
        filters = {"limit": PAGE, "customer_id": {"is": customer_id}, "updated_at": {"after": since}}
        offset: str | None = None
        while True:
            with failing("Chargebee"):
                page = self._invoices.list(filters | ({"offset": offset} if offset else {}))
            for entry in page.list:
                invoice = entry.invoice
                if invoice.status != PENDING and _next_offset(invoice) is None:
                    yield InvoiceState(False, invoice.line_items or [])
                elif invoice.status != PENDING:
                    yield self.retrieve(invoice.id)
            offset = page.next_offset
            if not offset:
                return


def _next_offset(invoice: Any) -> str | None:
    return getattr(invoice, "line_items_next_offset", None)
