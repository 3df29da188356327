"""Decides the result for an invoice that an earlier attempt, a person or Chargebee has closed, voided or deleted."""

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
# For this many seconds after an event, Chargebee's API may not know the invoice yet, although the webhook has arrived.
YOUNG_SECONDS = 600

# Maximum seconds for which an invoice A waits for usage that is reserved for an invoice B. During this time, Chargebee
# may answer a retry of B's close with its earlier answer, even if a person has voided B since. The worker then marks
# the usage as billed on B. After this time, a retry finds that B is void, and B's event becomes a dead letter.
SETTLED_SECONDS = 1800


async def require_settled(table: Table, in_work: Iterable[Billable]) -> None:
    """Raises Postponed if usage of `in_work` was reserved for another invoice less than SETTLED_SECONDS ago.

    The other invoice may still bill this usage. A verdict on the other invoice's event ends the wait, because the
    event's dead letter says what has become of the usage. Call this function only for an invoice without reserved
    usage: two invoices must not wait for each other.

    Raises TableUnavailable, Unprocessable.
    """
    recent = {one.invoice_id for one in in_work if now_seconds() - (one.reserved_at or 0) < SETTLED_SECONDS}
    for invoice_id in recent - {None}:
        orders = await table.get_all([invoice_key(str(invoice_id))])
        claims = await table.get_all([claim_key(order["event_id"]["S"]) for order in orders])
        # If the other invoice's event is done or has a binding verdict, its claim lacks `verdict`. The usage that this
        # attempt has read is then out of date, so the next attempt must read the usage again.
        if not any("verdict" in claim for claim in claims):
            raise Postponed("Another invoice of the customer is still being billed", "reserved_elsewhere")


class Settlement:
    """Stores what one attempt knows about its invoice, and builds the result of the attempt.

    `by_attempt`: the usage that this attempt has reserved; `set_aside`: customer id and `Billable.suffix` of each
    usage that this attempt or an earlier attempt for the event has set aside; `rejected`: True if Chargebee has
    rejected a call because of the invoice's state, so the invoice existed at that time.
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
        """Returns the result for a closed invoice that bills all of `own`."""
        in_part = bool(self.set_aside - {(one.customer_id, one.suffix) for one in own})
        return Result(outcome_of(own, in_part=in_part), self._billables.billed(own, closed_as), None, closed_as)

    def charged(self, own: Iterable[Billable], found: FoundInvoice) -> list[Billable]:
        """Returns the usage of `own` that has a charge on the invoice."""
        reserved = [one for one in positive(own) if one.invoice_id is not None]
        return charged(reserved, added(found.line_items, self._invoice.line_items))

    def closed(self, found: FoundInvoice, own: Sequence[Billable]) -> Result:
        """Returns the result for an invoice that an earlier attempt or someone else has closed.

        If the invoice is void, or lacks a charge for usage in `own`, the result has a binding verdict: Chargebee adds
        no charges to a closed invoice, so a person must decide what to do. The updates undo the reservations of usage
        without a valid charge, so that another invoice may charge this usage.
        """
        if found.status == VOIDED:
            # Nobody pays a void invoice, and it stays void, so another invoice may charge the usage.
            verdict = Unprocessable("The invoice was voided at Chargebee", "invoice_voided")
            return Result("closed_in_part", self._billables.freed(own, verdict.code), verdict, found.id)
        missing = without(positive(own), self.charged(own, found))
        reserved = [one for one in without(own, missing) if one.invoice_id is not None]
        if not missing:
            return self.result(reserved, found.id)
        # The updates for missing charges come last, because the last update is in the same transaction as the verdict.
        # If this attempt ends before that transaction, the next attempt still finds a missing charge.
        updates = self._billables.billed(reserved, found.id) + self._billables.freed(missing, CLOSED_WITHOUT_CHARGES)
        detail = f"The invoice was closed without {len(missing)} of {len(positive(own))} charges"
        return Result("closed_in_part", updates, Unprocessable(detail, CLOSED_WITHOUT_CHARGES), found.id)

    async def without_draft(self, error: Unprocessable, customers: set[str]) -> Result:
        """Returns the result for an invoice whose id Chargebee does not know.

        The invoice was closed (which gives it another id), was deleted, or never existed. If a closed invoice has a
        charge for usage that is reserved under the unknown id, returns the result for the closed invoice.

        Otherwise, raises ChargebeeUnavailable if Chargebee still knew the id during this attempt. Raises Postponed
        if the event is less than YOUNG_SECONDS old. In all other cases, raises `error`.
        """
        own = await self._billables.reserved(customers)
        charges = positive(own)
        is_new = len(charges) == len(positive(self.by_attempt))
        if is_new and not self.rejected and not self._lease.asked.may_have_changed:
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
