"""Names, ids and descriptions that imitate the references of charges, and usage outside the period.

None of them may change what is charged: see `app.billing.references`.
"""

import random
from dataclasses import replace
from itertools import groupby
from typing import Any

from loadtest.fire.customers import Expected
from local.usage_events import SeededBillable

_YEAR = 365 * 86_400
TWINS = 0.2  # share of the invoices in which two billable events get one id, if their times and amounts differ
_IDS = ("EUR", "billable:b1", "b1@1772319600", "ü" * 100, "x" * 100, "-", "%5B%5D", "a/b?c#d", "\U0001f680", "0")
_PLANS = (
    "Team (March 2026) [EUR]",
    "Seats [b1]",
    "Licence [billable:b1@0]",
    "[EUR]",
    " ",
    "Plan\t[x]",
    "Ü" * 250,
    "{}[]",
)


def renamed_of_each(usage: dict[str, list[Expected]], source: random.Random) -> dict[str, list[Expected]]:
    """Returns `usage`, which belongs to invoices, with other ids and descriptions.

    The ids of a customer's usage are different, but sometimes two have one id and different times and amounts.
    """
    found: dict[str, list[Expected]] = {}
    for _, some in groupby(usage.items(), key=lambda one: one[1][0].owner):
        invoices = list(some)
        own = [one for _, each in invoices for one in each]
        billables = iter(renamed([one.billable for one in own], source))
        found |= {name: [replace(one, billable=next(billables)) for one in each] for name, each in invoices}
    return found


def renamed(billables: list[SeededBillable], source: random.Random) -> list[SeededBillable]:
    """Returns `billables` with other ids and descriptions; sometimes two of them have one id and different times."""
    ids = source.sample(_IDS, len(billables))
    one, other = billables[0], billables[-1]
    # With different amounts, so that an audit tells one from the other.
    if source.random() < TWINS and one.occurred_at != other.occurred_at and one.amount != other.amount:
        ids[-1] = ids[0]
    return [replace(one, id=name, description=source.choice(_PLANS)) for one, name in zip(billables, ids, strict=True)]


def outside(invoice: dict[str, Any]) -> list[SeededBillable]:
    """Returns usage of the customer a year before the invoice's period and a year after it, which nobody charges."""
    starts, ends = ([line[name] for line in invoice["line_items"]] for name in ("date_from", "date_to"))
    return [
        SeededBillable("EUR", invoice["customer_id"], 77, "Usage of another year", at)
        for at in (min(starts) - _YEAR, max(ends) + _YEAR)
    ]


def lines(invoice: dict[str, Any], billables: list[SeededBillable], source: random.Random) -> list[dict[str, Any]]:
    """Returns the invoice's lines with other names, and an ad-hoc line of somebody else far outside the period."""
    own = [f"Usage [{one.id}]" for one in billables] + [
        f"Usage [billable:{one.id}@{one.occurred_at}]" for one in billables
    ]
    renamed = [line | {"description": source.choice([*_PLANS, *own])} for line in invoice["line_items"]]
    foreign = renamed[0] | {
        "id": f"li_{source.getrandbits(64):016x}",
        "description": "Refund [billable:nobody@1]",
        "entity_type": "adhoc",
        "date_from": renamed[0]["date_from"] - 2 * _YEAR,
        "date_to": renamed[0]["date_to"] + 2 * _YEAR,
    }
    return [*renamed, foreign]
