"""Settles an invoice that is closed or gone: what an attempt finds after an earlier one, a person or Chargebee."""

from collections.abc import Iterable, Sequence

from app.billing.answers import INVOICE_NOT_FOUND, VOIDED, FoundInvoice
from app.billing.billables import Billables
from app.billing.chargebee import Chargebee
from app.billing.charges import Billable, changed_after, without
from app.billing.dynamodb import Table
from app.billing.items import claim_key, invoice_key
from app.billing.leases import Lease
from app.billing.line_items import added
from app.billing.references import charged, refers_to
from app.billing.result import Result, outcome_of, positive
from app.clock import now_seconds
from app.errors import BillingFailed, ChargebeeUnavailable, Postponed, Unprocessable
from app.events import Invoice, valid_id

CLOSED_WITHOUT_CHARGES = "closed_without_charges"
# Chargebee's webhook can be ahead of its API. An unknown invoice of a younger event may still become known.
YOUNG_SECONDS = 600

# How long an invoice waits at most for usage that is reserved for another invoice. Until then, Chargebee may repeat its
# answer to that invoice's close, from which the usage is billed there, although a person has voided the invoice
# meanwhile. Later, the worker finds out that the invoice is void, and sends a dead letter.
SETTLED_SECONDS = 1800


async def require_settled(table: Table, in_work: Iterable[Billable]) -> None:
    """Raises Postponed if usage was reserved for another invoice so recently that it may still be billed there.

    A final verdict on the other invoice's event ends the wait: its dead letter says what has become of the usage. An
    invoice that has reserved usage itself does not wait, so that two invoices never wait for each other. Raises
    TableUnavailable, Unprocessable.
    """
    recent = {one.invoice_id for one in in_work if now_seconds() - (one.reserved_at or 0) < SETTLED_SECONDS}
    for invoice_id in recent - {None}:
        orders = await table.get_all([invoice_key(str(invoice_id))])
        claims = await table.get_all([claim_key(order["event_id"]["S"]) for order in orders])
        # An event that has ended in another way has changed its usage since this attempt has read it.
        if not any("verdict" in claim for claim in claims):
            raise Postponed("Another invoice of the customer is still being billed", "reserved_elsewhere")


class Settlement:
    """Keeps what one attempt knows of its invoice.

    `by_attempt`: the usage that this attempt has reserved; `set_aside`: the customer and the suffix of usage that the
    event has set aside; `rejected`: whether Chargebee has rejected a call because of the invoice's state, so that the
    invoice exists.
    """

    def __init__(
        self, chargebee: Chargebee, lease: Lease, billables: Billables, invoice: Invoice, occurred_at: int
    ) -> None:
        self._chargebee, self._lease, self._billables = chargebee, lease, billables
        self._invoice, self._occurred_at = invoice, occurred_at
        self.by_attempt: list[Billable] = []
        self.set_aside: set[tuple[str, str]] = set()
        self.rejected = False

    def result(self, own: Sequence[Billable], closed_as: str) -> Result:
        """Returns the result for an invoice that is closed with all of `own`."""
        in_part = bool(self.set_aside - {(one.customer_id, one.suffix) for one in own})
        return Result(outcome_of(own, in_part=in_part), self._billables.billed(own, closed_as), None, closed_as)

    def charged(self, own: Iterable[Billable], found: FoundInvoice) -> list[Billable]:
        """Returns the usage of `own` that has a charge on the invoice."""
        reserved = [one for one in positive(own) if one.invoice_id is not None]
        return charged(reserved, added(found.line_items, self._invoice.line_items))

    def closed(self, found: FoundInvoice, own: Sequence[Billable]) -> Result:
        """Returns the result for an invoice that an earlier attempt or someone else has closed.

        If a charge of `own` is missing, this is a binding verdict: Chargebee adds no charges to a closed invoice, so a
        person must decide what to do. The missing usage is freed, because another invoice of the same period may charge
        it. A void invoice has a binding verdict, too.
        """
        if found.status == VOIDED:
            # Nobody pays a void invoice, and it stays void, so another invoice may charge the usage.
            verdict = Unprocessable("The invoice was voided at Chargebee", "invoice_voided")
            return Result("closed_in_part", self._billables.freed(own, verdict.code), verdict, found.id)
        missing = without(positive(own), self.charged(own, found))
        reserved = [one for one in without(own, missing) if one.invoice_id is not None]
        if not missing:
            return self.result(reserved, found.id)
        # The last update is written together with the verdict. Until then, a later attempt finds missing usage.
        updates = self._billables.billed(reserved, found.id) + self._billables.freed(missing, CLOSED_WITHOUT_CHARGES)
        detail = f"The invoice was closed without {len(missing)} of {len(positive(own))} charges"
        return Result("closed_in_part", updates, Unprocessable(detail, CLOSED_WITHOUT_CHARGES), found.id)

    async def without_draft(self, error: Unprocessable, customers: set[str]) -> Result:
        """Returns the result for an invoice whose id Chargebee does not know.

        Either the invoice was closed, which gives it another id, or it was deleted, or it never existed. Raises `error`
        if no closed invoice of the customer has a charge of usage that is reserved for this invoice, or Postponed if
        the event is young. But if the invoice existed during this attempt, a call that was still at work has closed it:
        raises ChargebeeUnavailable, because the next attempt gets the answer of that call.
        """
        own = await self._billables.reserved(customers)
        charges = positive(own)
        if not self.rejected and not self._lease.may_have_changed and len(charges) == len(positive(self.by_attempt)):
            # No attempt can have added a charge, so another invoice may charge this usage.
            await self._billables.write(self._billables.freed(own, INVOICE_NOT_FOUND))
            raise self._not_found(error)
        since = changed_after(charges)
        async for found in self._chargebee.closed_invoices(self._lease, self._invoice.customer_id, since):
            if refers_to(found.line_items, charges):
                # The lines of a truncated event do not name all customers of an account hierarchy.
                more = {one for line in found.line_items if (one := valid_id(line.customer_id))} - customers
                return self.closed(found, own + await self._billables.reserved(more))
        if self.rejected:
            raise ChargebeeUnavailable("The invoice existed a moment ago, and is not found", "invalid_state")
        raise self._not_found(error)  # the reservations stay, because a charge may be on an invoice that was not found

    def _not_found(self, error: Unprocessable) -> BillingFailed:
        if abs(now_seconds() - self._occurred_at) < YOUNG_SECONDS:
            return Postponed("Chargebee does not know the invoice yet", "invoice_not_found_yet")
        return error
