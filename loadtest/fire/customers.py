"""Generates customers' invoices, and the usage to charge on them. The customers have one or two subscriptions.

There are three kinds of customers, equally often. The first kind has one subscription, and some of its usage names no
subscription and no currency. The second kind has two subscriptions on one invoice; the second subscription may belong
to a child of the customer, as in a hierarchy of accounts. The third kind has two subscriptions with one invoice each.
These two invoices have the same term, and mostly different currencies.
"""

import random
from collections import Counter
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

from local.seeding import charges
from local.usage_events import SeededBillable

CURRENCIES = ("EUR", "USD")
_AMOUNTS = ("sub_total", "total", "amount_due", "amount_to_collect")


@dataclass(frozen=True)
class Expected:
    """Usage that must be charged once, on the invoice `invoice_id` of the customer `owner`.

    If a person regenerates the invoice, the charge must be on the new invoice instead. `subscription_id` and `currency`
    are the correct values, even if the usage itself names none.
    """

    billable: SeededBillable
    owner: str
    invoice_id: str
    subscription_id: str
    currency: str


def invoices(template: dict[str, Any], run: str, number: int, source: random.Random | None) -> list[dict[str, Any]]:
    """Returns `number` invoices like `template`. The invoices of one customer follow each other.

    `run` is part of the ids. If `source` is None, each customer has one subscription, in the template's currency.
    """
    made: list[dict[str, Any]] = []
    kinds = cycle((_alone, _consolidated, _apart))
    while len(made) < number:
        customer = f"customer-{run}_{len(made):06d}"
        one = [_invoice(template, customer, template["currency_code"], [(f"{customer}-s1", customer)])]
        made += next(kinds)(template, customer, source) if source else one
    return [invoice | {"id": f"draft_inv_{run}_{n:06d}"} for n, invoice in enumerate(made[:number])]


def _alone(template: dict[str, Any], customer: str, source: random.Random) -> list[dict[str, Any]]:
    return [_invoice(template, customer, source.choice(CURRENCIES), [(f"{customer}-s1", customer)])]


def _consolidated(template: dict[str, Any], customer: str, source: random.Random) -> list[dict[str, Any]]:
    child = source.choice((customer, f"{customer}-child"))
    subscriptions = [(f"{customer}-s1", customer), (f"{customer}-s2", child)]
    return [_invoice(template, customer, source.choice(CURRENCIES), subscriptions)]


def _apart(template: dict[str, Any], customer: str, source: random.Random) -> list[dict[str, Any]]:
    currencies = source.choice((CURRENCIES, CURRENCIES, ("EUR", "EUR")))
    return [
        _invoice(template, customer, currency, [(f"{customer}-s{number}", customer)])
        for number, currency in enumerate(currencies, 1)
    ]


def _invoice(
    template: dict[str, Any], owner: str, currency: str, subscriptions: list[tuple[str, str]]
) -> dict[str, Any]:
    """Returns an invoice of `owner` that renews `subscriptions`: pairs of a subscription's id and its customer's id."""
    lines = [
        line | {"id": f"{line['id']}_{number}", "subscription_id": subscription, "customer_id": customer}
        for number, (subscription, customer) in enumerate(subscriptions, 1)
        for line in template["line_items"]
    ]
    amounts = {name: template[name] * len(subscriptions) for name in _AMOUNTS}
    named = subscriptions[0][0] if len(subscriptions) == 1 else None
    return (
        template
        | amounts
        | {
            "customer_id": owner,
            "subscription_id": named,
            "currency_code": currency,
            "line_items": lines,
        }
    )


def usage(events: list[dict[str, Any]]) -> dict[str, list[Expected]]:
    """Returns the usage to charge on the events' invoices, by invoice. All items name subscription and currency."""
    found: dict[str, list[Expected]] = {}
    for event in events:
        invoice = event["content"]["invoice"]
        found[invoice["id"]] = [
            Expected(one, invoice["customer_id"], invoice["id"], str(one.subscription_id), invoice["currency_code"])
            for one in charges(event)
        ]
    return found


def named(
    wanted: dict[str, list[Expected]], events: list[dict[str, Any]], source: random.Random
) -> dict[str, list[Expected]]:
    """Returns `wanted`, but removes subscription and currency from some usage of customers with one subscription."""
    lines = [line for event in events for line in event["content"]["invoice"]["line_items"]]
    owners = Counter(owner for owner, _ in {(line["customer_id"], line["subscription_id"]) for line in lines})
    return {
        name: [one if owners[one.owner] != 1 or source.choice((True, False)) else _unnamed(one) for one in some]
        for name, some in wanted.items()
    }


def _unnamed(expected: Expected) -> Expected:
    return replace(expected, billable=replace(expected.billable, currency=None, subscription_id=None))


def of_another_currency(expected: Expected) -> SeededBillable:
    """Returns similar usage in a currency that no invoice has, so the worker must not charge it."""
    return replace(
        expected.billable,
        id="another-currency",
        amount=78,
        currency="JPY",
        subscription_id=expected.subscription_id,
    )
