"""Releases the usage of an invoice that is void or unknown to Chargebee: the work of `python -m app release`.

The usage then belongs to no invoice, so the next invoice that covers the usage charges it.
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
from app.billing.items import number, text
from app.billing.leases import expires
from app.billing.references import refers_to
from app.billing.result import positive
from app.clock import CLOCK, now_ms

# The command leases the invoice for this many ms, so that no worker works on it. A few API calls take less time.
LEASE_MS = 300_000
SKEW_MS = 75_000  # how far two clocks may differ: `term.SKEW` times the longest lease (15 minutes)


class NotReleased(Exception):
    """Some or all of the usage was not released. `str(error)` says why."""


class Affected(NamedTuple):
    """The usage of an invoice, and the verdicts on its events.

    - `usage`: the usage, by the id of the draft (the pending invoice) for which it was reserved.
    - `verdicts`: the codes of the binding verdicts, by event id.
    - `judged`: the ids of the closed invoices that belong to the events in `verdicts`.
    """

    usage: dict[str, list[Billable]]
    verdicts: dict[str, str]
    judged: set[str]


class Releaser:
    """Finds and releases usage. `progress` receives the number of the invoice's items found so far."""

    def __init__(self, table: Table, chargebee: Chargebee, progress: Callable[[int], None]) -> None:
        self._table, self._chargebee, self._progress = table, chargebee, progress

    async def find(self, invoice_id: str) -> Affected:
        """Returns the invoice's usage and verdicts. `invoice_id`: the draft's id, or the id of the closed invoice.

        Raises BillingFailed.
        """
        found = await self._scan(invoice_id)
        for draft in found.usage.keys() - {invoice_id}:  # also finds unbilled usage, which has only the draft's id
            found = await self._scan(draft)
        return found

    async def require_void(self, affected: Affected) -> None:
        """Raises NotReleased if the invoice exists and is not void, or if another invoice has charges for the usage."""
        billed = {one.closed_as or draft for draft, usage in affected.usage.items() for one in usage}
        for invoice_id in sorted(billed | affected.judged):
            if not await self._chargebee.is_void_or_gone(Caller(), invoice_id):
                raise NotReleased(f"The invoice {invoice_id} is neither void nor gone: void or delete it first")
        for draft, usage in affected.usage.items():
            await self._require_uncharged(draft, positive(one for one in usage if one.closed_as is None))

    async def release(self, affected: Affected) -> None:
        """Takes the usage from the invoice, and removes the binding verdicts. Raises NotReleased, BillingFailed.

        If the release is interrupted, the user starts the same command again, which releases the rest.
        """
        async with self._leased(affected.usage):
            await self.require_void(affected)
            updates = [charge_items.released(one) for some in affected.usage.values() for one in some]
            updates += [claims.reopened(*verdict, expires=expires()) for verdict in affected.verdicts.items()]
            for start in range(0, len(updates), TRANSACTION):
                try:
                    await self._table.write(updates[start : start + TRANSACTION])
                except ConditionFailed:
                    raise NotReleased("Some usage has changed, and is not released: start the command again") from None

    async def _require_uncharged(self, draft: str, usage: Sequence[Billable]) -> None:
        """Raises NotReleased if a closed invoice that is not void has charges for `usage`.

        The closed invoice may be the former draft itself, because a draft gets a new id when it is closed.
        """
        for payer in sorted({one.payer or one.customer_id for one in usage}):
            own = [one for one in usage if payer == (one.payer or one.customer_id)]
            async for found in self._chargebee.closed_invoices(Caller(), payer, changed_after(own)):
                if found.status != VOIDED and refers_to(found.line_items, own):
                    raise NotReleased(
                        f"The invoice {found.id} has charges of {draft}: void it first, or redrive the event"
                    )

    async def _scan(self, invoice_id: str) -> Affected:
        found, read = Affected({}, {}, set()), 0
        async for page in self._table.scan("#invoice_id = :id OR #closed_as = :id", id=invoice_id):
            for item in page:
                if item["sk"]["S"] == "claim":
                    found.verdicts[item["pk"]["S"].removeprefix("event#")] = item["code"]["S"]
                    found.judged.add(item["closed_as"]["S"])
                elif item["sk"]["S"].startswith(CHARGE):
                    one = charge_items.read(item["pk"]["S"].removeprefix("customer#"), item)
                    found.usage.setdefault(one.invoice_id or "", []).append(one)
            read += len(page)
            self._progress(read)
        return found

    @asynccontextmanager
    async def _leased(self, drafts: Iterable[str]) -> AsyncIterator[None]:
        """Leases the invoices, so that no worker changes them. Raises NotReleased if a worker has leased an invoice."""
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
