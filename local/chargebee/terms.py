"""Finds the subscriptions of an invoice, and the period for which the invoice bills each subscription."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

# The types of line items that bill a subscription's term (billing period). All other types are one-time charges:
# https://apidocs.chargebee.com/docs/api/invoices/invoice-object#line_items_entity_type
_OF_A_TERM = frozenset({"plan", "addon", "plan_item_price", "addon_item_price"})


class Term(NamedTuple):
    """The time from `date_from` to `date_to` (unix times) for which an invoice bills a customer's subscription."""

    customer_id: str
    date_from: int
    date_to: int


def is_of_a_term(item: Mapping[str, Any]) -> bool:
    """Returns whether a line item bills a subscription's term. Otherwise, it is a one-time charge."""
    return item.get("entity_type") in _OF_A_TERM


def terms(invoice: Mapping[str, Any], items: Iterable[Mapping[str, Any]]) -> dict[str, Term]:
    """Returns the term of each subscription, by subscription id. `items` are the invoice's line items.

    A line item that names no subscription belongs to the invoice's subscription. A line item that names no customer
    belongs to the invoice's customer. In an account hierarchy, the invoice's customer pays for the line items of other
    customers.
    """
    found: dict[str, Term] = {}
    for item in filter(is_of_a_term, items):
        subscription = item.get("subscription_id") or invoice.get("subscription_id")
        if subscription is None:
            continue
        term = Term(item.get("customer_id") or invoice["customer_id"], item["date_from"], item["date_to"])
        before = found.get(subscription, term)
        first, last = min(before.date_from, term.date_from), max(before.date_to, term.date_to)
        found[subscription] = Term(term.customer_id, first, last)
    return found
