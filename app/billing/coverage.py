"""Decides from an invoice's line items whether the worker bills the invoice, and whose usage the invoice covers.

The worker bills an invoice that renews a subscription. The invoice's field `recurring` is not enough: according to
Chargebee's type definitions, this field is also true for an invoice that has only ad-hoc charges on a subscription. So
the lines decide: only a renewal has a line of a plan or an add-on with a service period (a term line). This module does
no I/O.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from app.billing.line_items import LATEST_SECOND, Line, Period
from app.errors import Unprocessable
from app.events import Invoice, valid_id

PENDING, NO_TERM_LINE = "pending", "no_term_line"
# The types of term lines (line_items.entity_type): https://apidocs.chargebee.com/docs/api/invoices
TERM_TYPES = frozenset({"plan", "plan_item_price", "addon", "addon_item_price"})


class Coverage(NamedTuple):
    """A customer's subscription, and the period in which an invoice covers the subscription's usage."""

    customer_id: str
    subscription_id: str
    period: Period


def coverages(invoice: Invoice, lines: Iterable[Line]) -> list[Coverage]:
    """Returns one Coverage for each customer and subscription of the invoice's term lines.

    A term line bills a plan or an add-on for a service period. The period of a Coverage goes from the earliest start to
    the latest end of its term lines. In an account hierarchy, the invoice goes to the payer, and the lines name
    the customer who has the subscription. Raises Unprocessable if a period begins before 1970, or ends after
    LATEST_SECOND.
    """
    terms = [
        Coverage(valid_id(line.customer_id) or invoice.customer_id, subscription, Period(line.date_from, line.date_to))
        for line in lines
        if line.entity_type in TERM_TYPES
        and line.date_to > line.date_from
        and (subscription := valid_id(line.subscription_id) or valid_id(invoice.subscription_id))
    ]
    return [_together(list(some)) for _, some in groupby(sorted(terms), key=lambda term: term[:2])]


def _together(terms: Sequence[Coverage]) -> Coverage:
    found = Period(min(term.period.start for term in terms), max(term.period.end for term in terms))
    if found.start < 0 or found.end > LATEST_SECOND:
        raise Unprocessable("The invoice's period begins before 1970, or ends after the year 2286", "invalid_period")
    return terms[0]._replace(period=found)


def why_left_alone(invoice: Invoice, covered: Sequence[Coverage], exempt: frozenset[str]) -> str | None:
    """Returns why the invoice stays pending, or None if the worker bills the invoice.

    `covered`: the invoice's coverages; `exempt`: ids of customers and subscriptions whose invoices stay pending.
    """
    named = {invoice.customer_id, valid_id(invoice.subscription_id), *(one.customer_id for one in covered)}
    if exempt & (named | {one.subscription_id for one in covered}):
        return "exempt"
    if invoice.status != PENDING:
        return "not_pending"
    if not invoice.recurring:
        return "not_recurring"
    return None if covered else NO_TERM_LINE


def covering(covered: Iterable[Coverage], customer_id: str, subscription_id: str | None, at: int) -> list[Coverage]:
    """Returns the coverages to which a usage event of the customer may belong. `at`: the event's unix time.

    If the event names no subscription (`subscription_id` is None), the event may belong to each of the customer's
    subscriptions.
    """
    return [
        one
        for one in covered
        if one.customer_id == customer_id
        and subscription_id in (None, one.subscription_id)
        and one.period.start <= at <= one.period.end
    ]
