"""Finds the usage that an invoice covers, reserves it for the invoice, and undoes reservations.

A reservation is the invoice's id in the attribute `invoice_id` of a charge item (see charge_items.py). The worker
reserves each usage item before it charges the usage, so usage without a reservation was never charged. If usage is
reserved for one invoice, no other invoice charges the usage, even if the periods of the two invoices overlap.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from app.billing import charge_items
from app.billing.charge_items import CHARGE, USAGE
from app.billing.charges import Billable, between
from app.billing.dynamodb import TRANSACTION, ConditionFailed, Table
from app.billing.items import Item, Update, text
from app.billing.line_items import Period
from app.billing.selection import Aside, Selection, Selector
from app.clock import now_seconds
from app.events import Invoice


class Reserved(NamedTuple):
    """The result of `Billables.reserve`.

    `by_attempt`: usage that this attempt has reserved; `before`: usage that an earlier attempt had reserved for the
    invoice; `aside`: usage that this attempt has set aside.
    """

    by_attempt: list[Billable]
    before: list[Billable]
    aside: list[Aside]


Entry = tuple[Update, Billable | Aside]


class Billables:
    """Reads usage items and changes charge items in the table, for one event and its invoice."""

    def __init__(self, table: Table, invoice: Invoice, event_id: str) -> None:
        self._table = table
        self._invoice, self._payer, self._event = invoice.id, invoice.customer_id, event_id

    async def find(self, selector: Selector) -> Selection:
        """Returns the usage that the selector's invoice covers. Raises TableUnavailable, Unprocessable."""
        found = Selection.empty()
        for customer, some in groupby(sorted(selector.covered), key=lambda one: one.customer_id):
            periods = [one.period for one in some]
            first, last = between(Period(min(one.start for one in periods), max(one.end for one in periods)))
            usage = await self._between(customer, first, last)
            charges = await self._between(customer, first.replace(USAGE, CHARGE), last.replace(USAGE, CHARGE))
            selector.select(found, customer, usage, charges)
        return found

    async def reserve(self, wanted: Iterable[Billable], aside: Iterable[Aside]) -> Reserved:
        """Reserves the usage in `wanted` for the invoice, and marks the usage in `aside` as impossible to charge.

        Skips usage that another invoice has reserved since `find` was called. Raises TableUnavailable, Unprocessable.
        """
        now, done = now_seconds(), Reserved([], [], [])
        paid = [replace(one, payer=None if one.customer_id == self._payer else self._payer) for one in wanted]
        entries: list[Entry] = [
            (charge_items.reserved(one, self._invoice, now), self._with_reservation(one, now)) for one in paid
        ]
        entries += [(self._set_aside(one, now), one) for one in aside]
        for start in range(0, len(entries), TRANSACTION):
            await self._write(entries[start : start + TRANSACTION], done)
        return done

    async def _write(self, entries: Sequence[Entry], done: Reserved) -> None:
        while entries:
            try:
                await self._table.write([update for update, _ in entries])
                break
            except ConditionFailed as failed:
                both = list(zip(entries, failed.items, strict=True))
                entries = [entry for entry, item in both if item is None]
                for (_, what), item in both:
                    if item is not None and text(item, "invoice_id") == self._invoice:
                        self._keep(what, item, done)
        done.aside.extend(what for _, what in entries if isinstance(what, Aside))
        done.by_attempt.extend(what for _, what in entries if isinstance(what, Billable))

    def _keep(self, what: Billable | Aside, item: Item, done: Reserved) -> None:
        """Adds to `done` a reservation that is already in the table. The invoice charges the snapshot in `item`."""
        found = charge_items.read(what.customer_id, item)
        # If the two reservation times are equal, an earlier try of the same write succeeded, but its answer was lost.
        own = isinstance(what, Billable) and found.reserved_at == what.reserved_at
        (done.by_attempt if own else done.before).append(found)

    def _with_reservation(self, one: Billable, now: int) -> Billable:
        return replace(one, invoice_id=self._invoice, reserved_at=now, billed_at=None, closed_as=None)

    def _set_aside(self, one: Aside, now: int) -> Update:
        if one.taken is not None:
            return charge_items.taken_aside(one.taken, one.reason, self._event, now)
        return charge_items.set_aside(one.customer_id, one.suffix, one.reason, self._event, now)

    async def reserved(self, customers: Collection[str]) -> list[Billable]:
        """Returns all of the customers' usage that is reserved for the invoice or billed on it.

        The result includes usage outside of the invoice's period. Raises TableUnavailable, Unprocessable.
        """
        found: list[Billable] = []
        for customer in customers:
            items = await self._table.query(
                "#pk = :customer AND begins_with(#sk, :charge)",
                only="#invoice_id = :invoice",
                customer=f"customer#{customer}",
                charge=CHARGE,
                invoice=self._invoice,
            )
            found += [charge_items.read(customer, item) for item in items]
        return found

    def freed(self, billables: Iterable[Billable], reason: str) -> list[Update]:
        """Returns the updates that undo reservations. The invoice must be void, or have no charge for this usage."""
        now = now_seconds()
        reserved = (one for one in billables if one.invoice_id is not None and one.billed_at is None)
        return [charge_items.freed(one, reason, self._event, now) for one in reserved]

    def billed(self, billables: Iterable[Billable], closed_as: str) -> list[Update]:
        """Returns the updates that mark reserved usage as billed on the closed invoice with the id `closed_as`."""
        now = now_seconds()
        return [charge_items.billed(one, closed_as, now) for one in billables if one.billed_at is None]

    async def write(self, updates: Sequence[Update]) -> None:
        """Writes updates in as few transactions as needed. Raises ConditionFailed, TableUnavailable, Unprocessable."""
        for start in range(0, len(updates), TRANSACTION):
            await self._table.write(updates[start : start + TRANSACTION])

    async def _between(self, customer: str, first: str, last: str) -> list[Item]:
        keys = "#pk = :customer AND #sk BETWEEN :first AND :last"
        return await self._table.query(keys, customer=f"customer#{customer}", first=first, last=last)
