"""Bills one pending invoice: finds the usage that the invoice covers, reserves and charges it, and closes the invoice.

An attempt may fail after any step. README.md in this folder explains why the next attempt charges nothing twice.
"""

from typing import NamedTuple

from loguru import logger

from app.billing.answers import INVOICE_NOT_FOUND, FoundInvoice, InvalidState
from app.billing.billables import Billables
from app.billing.chargebee import Chargebee
from app.billing.charges import Billable, without
from app.billing.coverage import NO_TERM_LINE, Coverage, coverages, covering, why_left_alone
from app.billing.dynamodb import Table
from app.billing.leases import Lease
from app.billing.result import Result, positive
from app.billing.selection import Selection, Selector
from app.billing.settlement import Settlement, require_settled
from app.billing.whose import settle
from app.errors import BillingFailed, ChargebeeUnavailable, Unprocessable
from app.events import Event, Invoice

INVALID_STATE = "invalid_state"
# Seconds for which the worker retries while Chargebee rejects changes of a pending invoice. Chargebee remembers an
# idempotency key for 30 minutes, and may reject a change while it still executes an earlier call with the same key.
CONFLICT_SECONDS = 3600.0
SHOWN = 10


class Clients(NamedTuple):
    """A process's clients of DynamoDB and Chargebee.

    `exempt`: ids of customers and subscriptions whose invoices stay pending.
    """

    table: Table
    chargebee: Chargebee
    exempt: frozenset[str]


class BillingAttempt:
    """One attempt to bill the invoice of Chargebee's event."""

    def __init__(self, clients: Clients, lease: Lease, event: Event, invoice: Invoice) -> None:
        self._table, chargebee, self._exempt = clients
        self._chargebee, self._lease, self._invoice = chargebee, lease, invoice
        self._covered: list[Coverage] = []
        self._billables = Billables(self._table, invoice, event.id)
        self._settlement = Settlement(chargebee, lease, self._billables, invoice, event.occurred_at)

    async def bill(self) -> Result:
        """Charges the usage and closes the invoice, unless the invoice must stay pending. Raises BillingFailed."""
        try:
            return await self._bill()
        except Unprocessable as error:
            if error.code != INVOICE_NOT_FOUND:
                raise
            return await self._settlement.without_draft(error, self._customers())

    async def _bill(self) -> Result:
        invoice = self._invoice
        self._covered = coverages(invoice, invoice.line_items)
        reason = why_left_alone(invoice, self._covered, self._exempt)
        found = None
        if invoice.is_truncated and reason in (None, NO_TERM_LINE):
            found = await self._retrieve()
            self._covered = coverages(invoice, found.line_items)
            reason = why_left_alone(invoice, self._covered, self._exempt)
        if reason is not None and (reason != NO_TERM_LINE or found is None or self._lease.is_first):
            return self._left_alone(reason)
        selection = await self._find()
        own = selection.own
        # If an earlier attempt has reserved usage (`own`), this attempt completes the work, although a person has
        # edited the invoice since.
        if reason is not None and not own:
            return self._left_alone(reason)
        if not own:
            await require_settled(self._table, selection.in_work)
        if positive(own) and found is None:  # an earlier attempt may have charged this usage
            found = await self._retrieve()
        if found is not None and not found.is_pending:
            # `closed` gets the usage that the invoice should contain. If an earlier attempt has reserved usage that
            # needs a charge, the usage in `selection.free` was written later, and does not belong to this invoice.
            # Otherwise, the invoice was closed without charges, but should contain all usage of the period.
            return self._settlement.closed(found, own if positive(own) else own + selection.free)
        own = own + await self._reserve(selection)
        try:
            return await self._charge(own, self._settlement.charged(own, found) if found else [])
        except InvalidState:
            self._settlement.rejected = True
            found = await self._retrieve()
            if found.is_pending:
                raise self._conflict() from None
            return self._settlement.closed(found, own)

    def _left_alone(self, reason: str) -> Result:
        invoice = self._invoice
        logger.bind(event_id=self._lease.event_id, cause=reason).info("Invoice {} is left pending", invoice.id)
        return Result("left_pending")

    async def _find(self) -> Selection:
        invoice, event_id = self._invoice, self._lease.event_id
        selection = await self._billables.find(Selector(invoice.id, invoice.currency_code, event_id, self._covered))
        if invoice.is_truncated and not self._lease.is_first:
            # An earlier attempt may have reserved usage that the invoice no longer covers, because a person has edited
            # the invoice since.
            reserved = await self._billables.reserved(self._customers())
            selection.own.extend(without(reserved, selection.own))
        self._settlement.set_aside = {(one.customer_id, one.suffix) for one in selection.set_aside}
        if selection.changed:
            logger.bind(event_id=event_id).warning(
                "Usage was changed after it was reserved for invoice {}, and is charged as it was: {}",
                *(invoice.id, ", ".join(selection.changed[:SHOWN])),
            )
        return selection

    async def _reserve(self, selection: Selection) -> list[Billable]:
        """Reserves usage for the invoice, and sets aside usage that cannot be charged. Returns the reserved usage."""
        wanted, aside = await settle(self._chargebee, self._lease, self._covered, selection)
        aside += selection.odd
        done = await self._billables.reserve(wanted, [one for one in aside if one not in selection.set_aside])
        self._settlement.by_attempt = done.by_attempt
        self._settlement.set_aside |= {(one.customer_id, one.suffix) for one in done.aside}
        return done.by_attempt + done.before

    def _conflict(self) -> BillingFailed:
        """Returns the error to raise if Chargebee rejects changes of a pending invoice. The usage stays reserved."""
        if self._lease.note_conflict(CONFLICT_SECONDS):
            return Unprocessable(
                "For over an hour, Chargebee has rejected changes of the pending invoice", INVALID_STATE
            )
        return ChargebeeUnavailable("Chargebee rejects changes of a pending invoice", INVALID_STATE)

    async def _charge(self, own: list[Billable], on_invoice: list[Billable]) -> Result:
        """Charges the usage of `own` that is not in `on_invoice`, and closes the invoice.

        `own`: the usage that is reserved for this invoice; `on_invoice`: the part of `own` that the invoice already
        contains as charges. Raises InvalidState, BillingFailed.
        """
        invoice = self._invoice
        for billable in without(positive(own), on_invoice):
            coverage = self._coverage_of(billable)
            await self._chargebee.add_charge(self._lease, invoice.id, billable, coverage)
        closed_as = await self._chargebee.close(self._lease, invoice.id, invoice.customer_id)
        return self._settlement.result(own, closed_as)

    def _coverage_of(self, billable: Billable) -> Coverage | None:
        found = covering(self._covered, billable.customer_id, billable.subscription_id, billable.occurred_at)
        return found[0] if len(found) == 1 else None

    def _customers(self) -> set[str]:
        return {self._invoice.customer_id, *(one.customer_id for one in self._covered)}

    async def _retrieve(self) -> FoundInvoice:
        return await self._chargebee.retrieve(self._lease, self._invoice.id)
