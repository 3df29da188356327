"""Releases the usage of an invoice that is void or gone, for `python -m app release`.

The usage is then like any other that no invoice has: the next invoice of its subscription and period charges it.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from app.billing import charge_items, claims
from app.billing.answers import VOIDED
from app.billing.caller import Caller
from app.billing.charge_items import CHARGE
from app.billing.chargebee import Chargebee
from app.billing.charges import Billable, changed_after
from app.billing.dynamodb import TRANSACTION, ConditionFailed, Table
from app.billing.items import number, text, typed
from app.billing.leases import expires
from app.billing.references import refers_to
from app.billing.result import positive
from app.clock import CLOCK, now_ms

# The command asks Chargebee a few questions within this time. Meanwhile, no worker works on the invoice.
LEASE_MS = 300_000
SKEW_MS = 75_000  # the allowed difference of two clocks for the longest APP_BILLING_LEASE: see `term.SKEW`


class NotReleased(Exception):
    """The usage stays where it is. `str(error)` says why."""


class Affected(NamedTuple):
    """The usage of an invoice by the id of its draft, and the events with a binding verdict, with its code."""

    usage: dict[str, list[Billable]]
    verdicts: dict[str, str]


class Releaser:
    """`progress` receives the number of items that have been read so far."""

    def __init__(self, table: Table, chargebee: Chargebee, progress: Callable[[int], None]) -> None:
        self._table, self._chargebee, self._progress = table, chargebee, progress

    async def find(self, invoice_id: str) -> Affected:
        """Returns what the invoice has. `invoice_id`: the id of the draft, or the id that it got when it was closed.

        Raises BillingFailed.
        """
        found = await self._scan(invoice_id)
        for draft in found.usage.keys() - {invoice_id}:  # some of its usage may not be marked as billed yet
            found = await self._scan(draft)
        return found

    async def require_void(self, affected: Affected) -> None:
        """Raises NotReleased unless the invoice is void or gone, and no other one has its charges."""
        for draft, usage in affected.usage.items():
            for invoice_id in sorted({one.closed_as or draft for one in usage}):
                if not await self._chargebee.is_void_or_gone(Caller(), invoice_id):
                    raise NotReleased(f"The invoice {invoice_id} is neither void nor gone: void or delete it first")
            await self._require_uncharged(draft, positive(one for one in usage if one.closed_as is None))

    async def release(self, affected: Affected) -> None:
        """Releases the usage, and removes the verdicts. Raises NotReleased, BillingFailed.

        If the command ends before it is done, the next one releases the rest.
        """
        async with self._leased(affected.usage):
            await self.require_void(affected)
            updates = [charge_items.released(one) for some in affected.usage.values() for one in some]
            updates += [claims.reopened(*verdict, expires=expires()) for verdict in affected.verdicts.items()]
            for start in range(0, len(updates), TRANSACTION):
                try:
                    await self._table.write(updates[start : start + TRANSACTION])
                except ConditionFailed:
                    raise NotReleased("Some of the usage has changed meanwhile: start the command again") from None

    async def _require_uncharged(self, draft: str, usage: Sequence[Billable]) -> None:
        """Raises NotReleased if the draft is not gone, but closed under another id, with charges of `usage`."""
        for payer in sorted({one.payer or one.customer_id for one in usage}):
            own = [one for one in usage if payer == (one.payer or one.customer_id)]
            async for found in self._chargebee.closed_invoices(Caller(), payer, changed_after(own)):
                if found.status != VOIDED and refers_to(found.line_items, own):
                    raise NotReleased(
                        f"The invoice {found.id} has charges of {draft}: void it first, or redrive the event"
                    )

    async def _scan(self, invoice_id: str) -> Affected:
        usage: dict[str, list[Billable]] = {}
        verdicts: dict[str, str] = {}
        read = 0
        filters = {"FilterExpression": "#invoice_id = :id OR #closed_as = :id"}
        names = {"#invoice_id": "invoice_id", "#closed_as": "closed_as"}
        values = {":id": typed(invoice_id)}
        async for page in self._table.scan(**filters, ExpressionAttributeNames=names, ExpressionAttributeValues=values):
            for item in page:
                if item["sk"]["S"] == "claim":
                    verdicts[item["pk"]["S"].removeprefix("event#")] = item["code"]["S"]
                elif item["sk"]["S"].startswith(CHARGE):
                    one = charge_items.read(item["pk"]["S"].removeprefix("customer#"), item)
                    usage.setdefault(one.invoice_id or "", []).append(one)
            read += len(page)
            self._progress(read)
        return Affected(usage, verdicts)

    @asynccontextmanager
    async def _leased(self, drafts: Iterable[str]) -> AsyncIterator[None]:
        """Leases the invoices, so that no worker works on them. Raises NotReleased if a worker does."""
        owner = f"release/{CLOCK.get().token(8)}"
        taken: list[str] = []
        try:
            for draft in drafts:
                await self._take(draft, owner)
                taken.append(draft)
            yield
        finally:
            for draft in taken:
                await self._table.update(claims.invoice_released(draft, owner))

    async def _take(self, draft: str, owner: str) -> None:
        now = now_ms()
        times = {"until": now + LEASE_MS, "free": now - SKEW_MS, "expires": expires()}
        try:
            await self._table.update(claims.take_invoice(draft, owner, owner, None, **times))
        except ConditionFailed as failed:
            item = failed.items[0] or {}
            left = max(0, (number(item, "lease_until") or 0) + SKEW_MS - now) / 1000
            raise NotReleased(
                f"{text(item, 'owner')} works on the invoice {draft}: try again in {left:.0f} s"
            ) from None
