"""Sorts a customer's usage, for one invoice, into the lists of a `Selection`. Everything here is without I/O."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.billing.charge_items import differs, read, suffix_of
from app.billing.charges import Billable, chargeable, chargeable_or_none
from app.billing.coverage import Coverage, covering
from app.billing.items import Item
from app.errors import Unprocessable


class Aside(NamedTuple):
    """Usage that cannot be charged, and the reason.

    `taken`: the usage as it was billed on an invoice that is now void or deleted, or None if there is no such invoice.
    """

    customer_id: str
    suffix: str
    reason: str
    taken: Billable | None = None


class Selection(NamedTuple):
    """The usage that an invoice covers.

    - `own`: usage that is reserved for the invoice or billed on it, with the values of its charge items.
    - `free`: usage that no invoice has reserved or billed.
    - `odd`: usage that cannot be charged.
    - `elsewhere`: usage that is billed on another invoice, which may be void by now.
    - `in_work`: usage that is reserved for another invoice, but not billed yet.
    - `set_aside`: usage that an earlier attempt for the same event has set aside.
    - `changed`: the references of the usage in `own` whose usage item was changed after the reservation.
    """

    own: list[Billable]
    free: list[Billable]
    odd: list[Aside]
    elsewhere: list[Billable]
    in_work: list[Billable]
    set_aside: list[Aside]
    changed: list[str]

    @staticmethod
    def empty() -> "Selection":
        return Selection([], [], [], [], [], [], [])


class Selector(NamedTuple):
    """Sorts items of the table into a Selection for the invoice of one event. `currency`: the invoice's currency."""

    invoice_id: str
    currency: str
    event_id: str
    covered: Sequence[Coverage]

    def select(self, into: Selection, customer_id: str, usage: Iterable[Item], charges: Iterable[Item]) -> None:
        """Adds a customer's usage to `into`. `usage`, `charges`: all usage items and all charge items of one period."""
        known, written = ({suffix_of(item): item for item in items} for items in (charges, usage))
        for suffix, item in known.items():
            if "invoice_id" in item:
                self._add_reserved(into, read(customer_id, item), written.get(suffix))
            elif "reason" in item and item["event_id"]["S"] == self.event_id and suffix in written:
                into.set_aside.append(Aside(customer_id, suffix, item["reason"]["S"]))
        for suffix, item in written.items():
            if "invoice_id" not in known.get(suffix, {}):
                self._add_usage(into, customer_id, item)

    def _add_reserved(self, into: Selection, charge: Billable, usage: Item | None) -> None:
        if charge.invoice_id == self.invoice_id:
            into.own.append(charge)
            if usage is not None and differs(chargeable_or_none(charge.customer_id, usage), charge):
                into.changed.append(charge.reference)
        elif self._is_covered(charge):
            (into.in_work if charge.closed_as is None else into.elsewhere).append(charge)

    def _add_usage(self, into: Selection, customer_id: str, item: Item) -> None:
        """Adds a usage item that no invoice has reserved or billed."""
        try:
            found = chargeable(customer_id, item)
        except Unprocessable as error:
            if self._may_cover(customer_id, item):
                into.odd.append(Aside(customer_id, suffix_of(item), error.code))
            return
        if self._is_covered(found):
            into.free.append(found)

    def _is_covered(self, billable: Billable) -> bool:
        """Returns whether the invoice covers the usage. Usage without a currency has the invoice's currency."""
        if billable.currency not in (None, self.currency):
            return False
        return bool(covering(self.covered, billable.customer_id, billable.subscription_id, billable.occurred_at))

    def _may_cover(self, customer_id: str, item: Item) -> bool:
        """Returns whether the invoice may cover an invalid usage item.

        This is so unless the item names another currency, or a subscription that the invoice does not cover.
        """
        subscription, currency = (item.get(name, {}).get("S") for name in ("subscription_id", "currency"))
        subscriptions = {one.subscription_id for one in self.covered if one.customer_id == customer_id}
        return (subscription or None) in {None, *subscriptions} and (currency or None) in (None, self.currency)
