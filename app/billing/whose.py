"""Asks Chargebee what the table does not say: which invoices are void, and which subscriptions a customer has."""

from collections.abc import Sequence

from app.billing.chargebee import Chargebee
from app.billing.charges import Billable
from app.billing.coverage import Coverage
from app.billing.leases import Lease
from app.billing.selection import Aside, Selection

AMBIGUOUS = "ambiguous_subscription"


async def settle(
    chargebee: Chargebee, lease: Lease, covered: Sequence[Coverage], selection: Selection
) -> tuple[list[Billable], list[Aside]]:
    """Returns the usage that the invoice may charge, and the usage whose subscription is ambiguous.

    The invoice may charge usage that no invoice has reserved. It may also charge usage that is billed on another
    invoice, but only if the other invoice is void or unknown to Chargebee. `covered`: the invoice's coverages. Raises
    BillingFailed.
    """
    others = sorted({one.closed_as or "" for one in selection.elsewhere})
    gone = {other for other in others if await chargebee.is_void_or_gone(lease, other)}
    usable = [*selection.free, *(one for one in selection.elsewhere if (one.closed_as or "") in gone)]
    unnamed = sorted({one.customer_id for one in usable if one.subscription_id is None})
    ambiguous = {customer for customer in unnamed if await _is_ambiguous(chargebee, lease, covered, customer)}
    wanted: list[Billable] = []
    aside: list[Aside] = []
    for one in usable:
        if one.subscription_id is None and one.customer_id in ambiguous:
            from_void = None if one.closed_as is None else one
            aside.append(Aside(one.customer_id, one.suffix, AMBIGUOUS, from_void))
        else:
            wanted.append(one)
    return wanted, aside


async def _is_ambiguous(chargebee: Chargebee, lease: Lease, covered: Sequence[Coverage], customer_id: str) -> bool:
    """Returns whether the customer's usage that names no subscription may belong to more than one subscription.

    This is so if the invoice covers several subscriptions of the customer. It is also so if the customer had another
    subscription, which is not on the invoice, at some time in the period.
    """
    first, *more = [one for one in covered if one.customer_id == customer_id]
    if more:
        return True
    async for one in chargebee.subscriptions(lease, customer_id):
        if one.id != first.subscription_id and one.was_alive(*first.period):
            return True
    return False
