"""One attempt at a pending invoice, under its lease: find, reserve, charge, close.

An attempt may end after any step. README.md says why the next attempt charges nothing twice.
"""

from collections.abc import Iterable, Sequence

from app.billing.answers import VOIDED, FoundInvoice, InvalidState
from app.billing.billables import Billables
from app.billing.chargebee import Chargebee
from app.billing.charges import Billable, charged, without
from app.billing.dynamodb import Table
from app.billing.items import Update
from app.billing.leases import Lease
from app.billing.line_items import Line, added, period
from app.errors import ChargebeeUnavailable, Unprocessable
from app.events import Invoice


class BillingAttempt:
    """One attempt. `occurred_at`: the event's time in unix seconds."""

    def __init__(self, table: Table, chargebee: Chargebee, lease: Lease, invoice: Invoice, occurred_at: int) -> None:
        self._chargebee, self._lease, self._invoice = chargebee, lease, invoice
        self._occurred_at = occurred_at
        self._billables = Billables(table, invoice.customer_id, invoice.id)

    async def bill(self) -> tuple[bool, list[Update]]:
        """Returns whether the invoice is closed, and the updates that mark events as billed. Raises BillingFailed."""
        try:
            return await self._bill()
        except Unprocessable as error:
            if error.code == "invoice_not_found":  # so it has no charges, and another invoice may have them
                await self._billables.free_all()
            raise

    async def _bill(self) -> tuple[bool, list[Update]]:
        found = await self._retrieve() if self._invoice.is_truncated else None
        lines = found.line_items if found else self._invoice.line_items
        billables = await self._find(lines)
        reserved = [billable for billable in billables if billable.invoice_id is not None]
        if reserved and found is None:  # an earlier attempt may have charged them
            found = await self._retrieve()
        if found is not None and not found.is_pending:
            # Events that came after an earlier attempt's reservation are too late; without a reservation, all are.
            return await self._finish_closed(found, reserved or billables)
        own = reserved + await self._billables.reserve(without(billables, reserved))
        try:
            return await self._charge(own, self._charged(reserved, found) if found else [])
        except InvalidState:
            found = await self._retrieve()
            if found.is_pending:
                raise ChargebeeUnavailable("The invoice is pending, but not open", "invalid_state") from None
            return await self._finish_closed(found, own)

    async def _charge(self, own: list[Billable], there: list[Billable]) -> tuple[bool, list[Update]]:
        """Adds the charges that are not `there`, and closes. Raises InvalidState, BillingFailed."""
        for billable in without(own, there):
            await self._chargebee.add_charge(self._lease, self._invoice.id, billable)
        if not own and not self._invoice.line_items:
            found = await self._retrieve()
            if found.is_pending and not found.line_items:
                return False, []  # Chargebee does not close an invoice without a line
        await self._chargebee.close(self._lease, self._invoice.id)
        return True, self._billables.billed(own)

    async def _finish_closed(self, found: FoundInvoice, own: list[Billable]) -> tuple[bool, list[Update]]:
        """Ends the attempt at an invoice that an earlier attempt or someone else has closed. Raises Unprocessable."""
        if found.status == VOIDED:
            raise Unprocessable("The invoice has been voided", "invoice_voided")
        there = self._charged([one for one in own if one.invoice_id is not None], found)
        billed = self._billables.billed(there)
        if missing := without(own, there):
            # A closed invoice takes no charges, so a person decides. Another invoice of the period may charge them.
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
