"""Asks Chargebee what the table does not say: which invoices are void, and which subscriptions a customer has."""

from collections.abc import Iterable, Sequence

from app.billing.chargebee import Chargebee
from app.billing.charges import Billable
from app.billing.coverage import Coverage
from app.billing.leases import Lease
from app.billing.selection import Aside

AMBIGUOUS = "ambiguous_subscription"


class Inquiries:
    """Asks Chargebee on behalf of one attempt, and remembers each answer. `covered`: the invoice's coverages."""

    def __init__(self, chargebee: Chargebee, lease: Lease, covered: Sequence[Coverage]) -> None:
        self._chargebee, self._lease, self._covered = chargebee, lease, covered
        self._void: dict[str, bool] = {}
        self._ambiguous: dict[str, bool] = {}

    async def settle(
        self, free: Iterable[Billable], elsewhere: Iterable[Billable]
    ) -> tuple[list[Billable], list[Aside]]:
        """Returns the usage that the invoice may charge, and the usage whose subscription is ambiguous.

        `free`: usage that no invoice has. `elsewhere`: usage that other invoices have billed. The invoice may charge
        such usage only if the other invoice is void, or if Chargebee does not know the other invoice. Raises
        BillingFailed.
        """
        wanted: list[Billable] = []
        aside: list[Aside] = []
        taken = [one for one in elsewhere if await self._is_void_or_gone(one.closed_as or "")]
        for one in [*free, *taken]:
            if one.subscription_id is None and await self._is_ambiguous(one.customer_id):
                from_void = None if one.closed_as is None else one
                aside.append(Aside(one.customer_id, one.suffix, AMBIGUOUS, from_void))
            else:
                wanted.append(one)
        return wanted, aside

    async def _is_void_or_gone(self, invoice_id: str) -> bool:
        if invoice_id not in self._void:
            self._void[invoice_id] = await self._chargebee.is_void_or_gone(self._lease, invoice_id)
        return self._void[invoice_id]

    async def _is_ambiguous(self, customer_id: str) -> bool:
        """Returns whether usage of the customer that names no subscription may belong to several subscriptions.

        This is so if the invoice covers several of the customer's subscriptions. It is also so if the customer had a
        further subscription in the period.
        """
        if customer_id not in self._ambiguous:
            covered = [one for one in self._covered if one.customer_id == customer_id]
            self._ambiguous[customer_id] = len(covered) > 1 or await self._has_another(covered[0])
        return self._ambiguous[customer_id]

    async def _has_another(self, covered: Coverage) -> bool:
        async for one in self._chargebee.subscriptions(self._lease, covered.customer_id):
            if one.id != covered.subscription_id and one.was_alive(*covered.period):
                return True
        return False
