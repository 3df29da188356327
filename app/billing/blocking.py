"""Does the billing work of release v01 with clients whose calls block the thread: boto3 and Chargebee's own SDK.

If a step fails, it raises BillingUnavailable. Then Chargebee sends the webhook again, and the work restarts with the
first step. Every step may be repeated, because each charge has an idempotency key and a reference. Chargebee keeps the
key for 30 minutes. The reference is in the description of the charge's line item, and stays on the invoice.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.billing import charges
from app.billing.access import BillingAccess
from app.billing.blocking_invoices import BlockingInvoices, InvoiceState
from app.billing.blocking_table import BlockingTable, open_table
from app.billing.chargebee_sdk import IDEMPOTENCY_KEY, failing, open_site
from app.billing.charges import Billable
from app.billing.line_items import LATEST_SECOND, Period, added, period
from app.billing.references import charged, described, refers_to
from app.errors import BillingUnavailable
from app.events import Event, Invoice

if TYPE_CHECKING:
    import chargebee

# Chargebee's error codes. CONFLICT: most likely, the invoice is closed already, or an earlier try is still at work.
NOT_FOUND, CONFLICT = "resource_not_found", "invalid_state_for_request"


class BlockingBilling:
    """The steps of the billing work for an event that contains an invoice. Every step may raise BillingUnavailable.

    Up to version 1.3.0, release v01 charged billable events without reserving them before. So the invoice may contain
    charges of billable events without a reservation.
    """

    def __init__(self, table: BlockingTable, site: "chargebee.Chargebee") -> None:
        self._table = table
        self._invoices: Any = site.Invoice
        self._read = BlockingInvoices(site)

    def read(self, event: Event) -> InvoiceState:
        """Retrieves the state of the invoice from Chargebee.

        The state in the event is not enough: an earlier attempt may have changed the invoice since then, and the event
        may lack some line items of a long invoice.
        """
        try:
            return self._read.retrieve(_invoice(event).id)
        except BillingUnavailable as error:
            closed = self._closed(_invoice(event)) if NOT_FOUND in error.cause else None
            if closed is None:
                raise
            return closed

    def _closed(self, invoice: Invoice) -> InvoiceState | None:
        """Finds an invoice that has another id since it was closed, by its charges.

        Returns None if no closed invoice has a charge of a billable event that is reserved for `invoice`.
        """
        with failing("DynamoDB"):
            items = self._table.items(invoice.customer_id, *charges.between(Period(0, LATEST_SECOND)))
            own = [item for item in items if item.get("invoice_id", {}).get("S") == invoice.id]
            reserved = [charges.chargeable(invoice.customer_id, item) for item in own]
        if not reserved:
            return None
        found = self._read.closed(invoice.customer_id, charges.changed_after(reserved))
        return next((state for state in found if refers_to(state.lines, reserved)), None)

    def unbilled(self, event: Event, state: InvoiceState) -> list[Billable]:
        """Returns the billable events of the invoice's period, without those that are reserved for another invoice.

        If the invoice is closed, returns only the billable events that have a charge on the invoice.
        Raises InvalidEvent if the invoice can never be billed.
        """
        invoice = _invoice(event)
        with failing("DynamoDB"):
            first, last = charges.between(period(state.lines, invoice.line_items, event.occurred_at))
            items = self._table.items(invoice.customer_id, first, last)
            free = [item for item in items if not charges.is_of_another(item, invoice.id)]
            free_or_own = [charges.chargeable(invoice.customer_id, item) for item in free]
        return free_or_own if state.pending else charged(free_or_own, added(state.lines, invoice.line_items))

    def add(self, event: Event, state: InvoiceState, billables: Sequence[Billable]) -> None:
        """Reserves and charges each billable event that has no charge on the invoice, with one API call per charge."""
        invoice = _invoice(event)
        on_invoice = charged(billables, added(state.lines, invoice.line_items))
        for billable in charges.without(billables, on_invoice):
            reserved = billable
            if billable.invoice_id is None:
                reserved_at = self._table.set(invoice.customer_id, billable, invoice.id, "reserved_at")
                reserved = replace(billable, reserved_at=reserved_at)
            charge = {"amount": billable.amount, "description": described(billable)}
            with failing("Chargebee"):
                self._invoices.add_charge(invoice.id, charge, _key(event, "add_charge", reserved))

    def close(self, event: Event, state: InvoiceState) -> None:
        """Closes the invoice, unless it is already closed."""
        if state.pending:
            try:
                with failing("Chargebee"):
                    self._invoices.close(_invoice(event).id, {}, _key(event, "close"))
            except BillingUnavailable as error:
                if CONFLICT not in error.cause or self.read(event).pending:
                    raise

    def mark(self, event: Event, billables: Sequence[Billable]) -> None:
        """Marks each billable event in the table as billed on the invoice, with one call for each."""
        invoice = _invoice(event)
        for billable in billables:
            self._table.set(invoice.customer_id, billable, invoice.id, "billed_at")


def build_billing(access: BillingAccess) -> BlockingBilling:
    """Builds the clients of DynamoDB (boto3) and Chargebee (Chargebee's SDK). Neither client makes a call yet.

    Both clients have one time-out for connecting and one for each read, but no deadline for a whole call. So an answer
    that arrives slowly, piece by piece, may take longer. boto3 retries a failed call once. The SDK's own retries are
    off, because the SDK would sleep for the whole Retry-After, and retry a call without limit after status 429.
    """
    return BlockingBilling(open_table(access.table), open_site(access))


def _invoice(event: Event) -> Invoice:
    assert event.content.invoice is not None
    return event.content.invoice


def _key(event: Event, operation: str, billable: Billable | None = None) -> dict[str, str]:
    return {IDEMPOTENCY_KEY: charges.idempotency_key(event.id, operation, billable)}
