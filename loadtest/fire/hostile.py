"""Generates misleading names, ids and descriptions, and usage outside the invoice's period.

The names look like the references by which the worker recognises its charges (see `app.billing.references`). The worker
must make the same charges as with usual names.
"""

import random
from dataclasses import replace
from itertools import groupby
from typing import Any

from loadtest.fire.customers import Expected
from local.usage_events import SeededBillable

_YEAR = 365 * 86_400
TWINS = 0.2  # for this share of the customers, two items of usage get the same id if their times and amounts differ
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
    """Returns `usage`, by invoice, with other ids and descriptions.

    Two items of a customer share an id only sometimes, and only if their times and amounts differ.
    """
    found: dict[str, list[Expected]] = {}
    for _, some in groupby(usage.items(), key=lambda one: one[1][0].owner):
        invoices = list(some)
        own = [one for _, each in invoices for one in each]
        billables = iter(renamed([one.billable for one in own], source))
        found |= {name: [replace(one, billable=next(billables)) for one in each] for name, each in invoices}
    return found


def renamed(billables: list[SeededBillable], source: random.Random) -> list[SeededBillable]:
    """Returns one customer's `billables` with other ids and descriptions. Sometimes, two of them share an id."""
    ids = source.sample(_IDS, len(billables))
    one, other = billables[0], billables[-1]
    # The amounts must differ, so that the audit can distinguish the two items.
    if source.random() < TWINS and one.occurred_at != other.occurred_at and one.amount != other.amount:
        ids[-1] = ids[0]
    return [replace(one, id=name, description=source.choice(_PLANS)) for one, name in zip(billables, ids, strict=True)]


def outside(invoice: dict[str, Any]) -> list[SeededBillable]:
    """Returns usage a year before the invoice's period and a year after it, which the worker must not charge."""
    starts, ends = ([line[name] for line in invoice["line_items"]] for name in ("date_from", "date_to"))
    return [
        SeededBillable("EUR", invoice["customer_id"], 77, "Usage of another year", at)
        for at in (min(starts) - _YEAR, max(ends) + _YEAR)
    ]


def lines(invoice: dict[str, Any], billables: list[SeededBillable], source: random.Random) -> list[dict[str, Any]]:
    """Returns the invoice's lines with other descriptions, and adds an ad-hoc line whose period exceeds four years."""
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
