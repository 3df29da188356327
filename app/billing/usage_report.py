"""Finds unbilled usage, and usage that was changed after its reservation: the work of `python -m app unbilled`."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from app.billing.charge_items import USAGE, charge_key, differs, read, suffix_of
from app.billing.charges import Billable, chargeable_or_none
from app.billing.dynamodb import Table
from app.billing.items import Item, text

NEVER, RESERVED = "never_reserved", "reserved"


class Changed(NamedTuple):
    """Usage whose usage item was changed after the reservation.

    `charge`: the usage as it was reserved; `now`: the changed usage, or None if it is invalid.
    """

    charge: Billable
    now: Billable | None


@dataclass
class Group:
    """The unbilled usage of one customer in one currency.

    `number`: the number of usage items; `total`: the sum of the valid items' amounts in minor units; `oldest`: the unix
    time of the oldest item; `reasons`: for each reason, the number of items that are not billed for this reason.
    """

    number: int = 0
    total: int = 0
    oldest: int = 10**10
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class Report:
    """The result of `unbilled`. `groups`: unbilled usage by customer and currency ("" for usage without a currency).

    `changed`: usage that was changed after an invoice reserved it. `read`: the number of usage items read.
    """

    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    changed: list[Changed] = field(default_factory=list)
    read: int = 0

    def add(self, item: Item, charge: Item, before: int) -> None:
        """Adds a usage item. `charge`: the charge item of the same usage, or {} if there is none.

        Unbilled usage counts only if its time is before `before`, in unix seconds.
        """
        self.read += 1
        customer, suffix = item["pk"]["S"].removeprefix("customer#"), suffix_of(item)
        usage = chargeable_or_none(customer, item)
        if "invoice_id" in charge:
            charged = read(customer, charge)
            if differs(usage, charged):
                self.changed.append(Changed(charged, usage))
        at = int(suffix[:10]) if suffix[:10].isdecimal() else 0
        reason = _reason(charge)
        if reason is not None and at < before:
            currency = str(item.get("currency", {}).get("S", ""))
            group = self.groups.setdefault((customer, currency), Group())
            group.number += 1
            group.total += usage.amount if usage else 0
            group.oldest = min(group.oldest, at)
            group.reasons[reason] += 1


async def unbilled(table: Table, before: int, progress: Callable[[int], None]) -> Report:
    """Reads the whole table, and returns the unbilled usage from before the unix time `before`, and all changed usage.

    `progress` receives the number of usage items that have been read so far. Raises BillingFailed.
    """
    report = Report()
    async for page in table.scan("begins_with(#sk, :usage)", usage=USAGE):
        keys = [charge_key(item["pk"]["S"].removeprefix("customer#"), suffix_of(item)) for item in page]
        charges = {(one["pk"]["S"], suffix_of(one)): one for one in await table.get_all(keys)}
        for item in page:
            report.add(item, charges.get((item["pk"]["S"], suffix_of(item)), {}), before)
        progress(report.read)
    return report


def _reason(charge: Item) -> str | None:
    """Returns why the usage is not billed, or None if it is billed. `charge` is {} if there is no charge item."""
    if "billed_at" in charge:
        return None
    if "invoice_id" in charge:
        return RESERVED
    return text(charge, "reason") or NEVER
