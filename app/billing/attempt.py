"""Bills one pending invoice: finds the customer's billable events, reserves and charges them, and closes the invoice.

An attempt may fail after any step. README.md in this folder explains why the next attempt charges nothing twice.
"""

from collections.abc import Iterable, Sequence

from app.billing.answers import VOIDED, FoundInvoice, InvalidState
from app.billing.billables import Billables
from app.billing.chargebee import Chargebee
from app.billing.charges import Billable, changed_after, without
from app.billing.dynamodb import Table
from app.billing.items import Update
from app.billing.leases import Lease
from app.billing.line_items import Line, added, period
from app.billing.references import charged, refers_to
from app.errors import BillingFailed, ChargebeeUnavailable, Unprocessable
from app.events import Invoice

INVALID_STATE = "invalid_state"
# How long Chargebee may reject changes of a pending invoice. An earlier call that is still at work causes the same
# error, but ends before Chargebee forgets its idempotency key, which happens after 30 minutes.
CONFLICT_SECONDS = 3600.0


class BillingAttempt:
    """One attempt to bill an invoice. `occurred_at`: the time of Chargebee's event, in unix seconds."""

    def __init__(self, table: Table, chargebee: Chargebee, lease: Lease, invoice: Invoice, occurred_at: int) -> None:
        self._chargebee, self._lease, self._invoice = chargebee, lease, invoice
        self._occurred_at = occurred_at
        self._billables = Billables(table, invoice.customer_id, invoice.id)
        self._reserved: list[Billable] = []  # by this attempt
        self._rejected = False  # because of the invoice's state, so the invoice exists

    async def bill(self) -> tuple[bool, list[Update]]:
        """Charges the billable events and closes the invoice. Raises BillingFailed.

        Returns a pair: whether the invoice is closed, and the updates of the table that mark billable events as billed.
        """
        try:
            return await self._bill()
        except Unprocessable as error:
            if error.code != "invoice_not_found":
                raise
            return await self._without_draft(error)

    async def _without_draft(self, error: Unprocessable) -> tuple[bool, list[Update]]:
        """Returns the same values as `bill`, for an invoice whose id Chargebee does not know.

        Either the invoice was closed, which gives it another id, or it was deleted, or it never existed. Raises `error`
        if no closed invoice of the customer has a charge of a billable event that is reserved for this invoice. But if
        the invoice existed during this attempt, a call that was still at work has closed it: raises
        ChargebeeUnavailable, because the next attempt gets the answer of that call.
        """
        own = await self._billables.reserved()
        if not self._rejected and not self._lease.may_have_changed and len(own) == len(self._reserved):
            # No attempt can have added a charge, so another invoice may charge these billable events.
            await self._billables.free(own)
            raise error
        since = changed_after(own)
        async for found in self._chargebee.closed_invoices(self._lease, self._invoice.customer_id, since):
            if refers_to(found.line_items, own):
                return await self._finish_closed(found, own)
        if self._rejected:
            raise ChargebeeUnavailable("The invoice existed a moment ago, and is not found", INVALID_STATE)
        raise error  # The reservations stay, because a charge may be on an invoice that was not found.

    async def _bill(self) -> tuple[bool, list[Update]]:
        found = await self._retrieve() if self._invoice.is_truncated else None
        lines = found.line_items if found else self._invoice.line_items
        billables = await self._find(lines)
        reserved = [billable for billable in billables if billable.invoice_id is not None]
        if reserved and found is None:  # an earlier attempt may have charged these billable events
            found = await self._retrieve()
        if found is not None and not found.is_pending:
            # A closed invoice can contain only charges of billable events that an earlier attempt has reserved. If some
            # are reserved, the others came later and do not belong to this invoice. If none is reserved, the invoice
            # was closed without charges, so all billable events of the period are missing from the invoice.
            return await self._finish_closed(found, reserved or billables)
        self._reserved = await self._billables.reserve(without(billables, reserved))
        own = reserved + self._reserved
        try:
            return await self._charge(own, self._charged(reserved, found) if found else [])
        except InvalidState:
            self._rejected = True
            found = await self._retrieve()
            if found.is_pending:
                raise self._conflict() from None
            return await self._finish_closed(found, own)

    def _conflict(self) -> BillingFailed:
        """Returns the error of a pending invoice that Chargebee does not let the worker change. Reservations stay."""
        if self._lease.note_conflict(CONFLICT_SECONDS):
            return Unprocessable(
                "For over an hour, Chargebee has rejected changes of the pending invoice", INVALID_STATE
            )
        return ChargebeeUnavailable("Chargebee rejects changes of a pending invoice", INVALID_STATE)

    async def _charge(self, own: list[Billable], on_invoice: list[Billable]) -> tuple[bool, list[Update]]:
        """Charges the billable events of `own` that are not in `on_invoice`, and closes the invoice.

        `own`: the billable events that are reserved for this invoice; `on_invoice`: those that the invoice already
        contains. Returns the same values as `bill`. Raises InvalidState, BillingFailed.
        """
        for billable in without(own, on_invoice):
            await self._chargebee.add_charge(self._lease, self._invoice.id, billable)
        if not own and not self._invoice.line_items:
            found = await self._retrieve()
            if found.is_pending and not found.line_items:
                return False, []  # Chargebee does not close an invoice that has no line item
        await self._chargebee.close(self._lease, self._invoice.id, self._invoice.customer_id)
        return True, self._billables.billed(own)

    async def _finish_closed(self, found: FoundInvoice, own: list[Billable]) -> tuple[bool, list[Update]]:
        """Returns the same values as `bill`, for an invoice that an earlier attempt or someone else has closed.

        Raises Unprocessable if the invoice is voided, or if a billable event of `own` has no charge on the invoice.
        Raises TableUnavailable, or ConditionFailed if a reservation for the invoice has been removed meanwhile.
        """
        if found.status == VOIDED:
            raise Unprocessable("The invoice was voided at Chargebee", "invoice_voided")
        on_invoice = self._charged([one for one in own if one.invoice_id is not None], found)
        billed = self._billables.billed(on_invoice)
        if missing := without(own, on_invoice):
            # Chargebee adds no charges to a closed invoice, so a person must decide what to do. `free` removes the
            # reservations of the missing billable events, because another invoice of the same period may charge them.
            await self._billables.free(missing)
            await self._billables.mark(billed)
            detail = f"The invoice was closed without {len(missing)} of {len(own)} charges"
            raise Unprocessable(detail, "closed_without_charges")
        return True, billed

    def _charged(self, reserved: Iterable[Billable], found: FoundInvoice) -> list[Billable]:
        return charged(reserved, added(found.line_items, self._invoice.line_items))

    async def _find(self, lines: Sequence[Line]) -> list[Billable]:
        return await self._billables.find(period(lines, self._invoice.line_items, self._occurred_at))

    async def _retrieve(self) -> FoundInvoice:
        return await self._chargebee.retrieve(self._lease, self._invoice.id)
