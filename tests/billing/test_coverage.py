"""Which pending invoices the worker acts on, and whose usage they cover."""

from typing import Any

import pytest

from app.billing.coverage import Coverage, coverages, covering, why_left_alone
from app.billing.line_items import LATEST_SECOND, Period
from app.errors import Unprocessable
from app.events import Invoice
from tests.billing.stage import END, START, event_body, event_of, line

NOBODY: frozenset[str] = frozenset()


def _invoice(*lines: dict[str, Any], **fields: Any) -> Invoice:
    body = event_body(**{"customer_id": "owner", "subscription_id": "sub", "line_items": list(lines), **fields})
    found = event_of(body).content.invoice
    assert found is not None
    return found


def _left_alone(invoice: Invoice, exempt: frozenset[str] = NOBODY) -> str | None:
    return why_left_alone(invoice, coverages(invoice, invoice.line_items), exempt)


@pytest.mark.parametrize("kind", ["plan", "plan_item_price", "addon", "addon_item_price"])
def test_a_line_of_a_term_makes_the_invoice_one_of_a_term(kind: str) -> None:
    """A plan or an add-on with a service period is what a renewal has."""
    assert _left_alone(_invoice(line(1) | {"entity_type": kind})) is None


@pytest.mark.parametrize(
    ("invoice", "reason"),
    [
        (_invoice(), "no_term_line"),
        (_invoice(line(1) | {"entity_type": "adhoc"}), "no_term_line"),
        (_invoice(line(1) | {"entity_type": "charge_item_price"}), "no_term_line"),
        (_invoice(line(1) | {"entity_type": "something_new"}), "no_term_line"),
        (_invoice(line(1, START, START)), "no_term_line"),
        (_invoice(line(1, END, START)), "no_term_line"),
        (_invoice(line(1), subscription_id=None), "no_term_line"),
        (_invoice(line(1) | {"subscription_id": 7}, subscription_id=[]), "no_term_line"),
        (_invoice(line(1), recurring=False), "not_recurring"),
        (_invoice(line(1), status="posted"), "not_pending"),
    ],
    ids=[
        *("no line", "ad-hoc", "one-time charge", "unknown type", "no period", "backwards"),
        *("no subscription", "no valid subscription", "not recurring", "not pending"),
    ],
)
def test_an_invoice_that_is_left_alone(invoice: Invoice, reason: str) -> None:
    """All other invoices may be meant to be kept, and are nobody's term."""
    assert _left_alone(invoice) == reason


@pytest.mark.parametrize("exempt", ["owner", "sub", "child", "other"])
def test_one_exempt_customer_or_subscription_exempts_the_invoice(exempt: str) -> None:
    """Closing the invoice would override the review of all that is on it."""
    invoice = _invoice(line(1) | {"subscription_id": "other", "customer_id": "child"})
    assert _left_alone(invoice, frozenset({exempt})) == "exempt"
    assert _left_alone(invoice, frozenset({"somebody"})) is None


def test_each_subscription_has_its_period() -> None:
    """A consolidated invoice has the lines of several subscriptions, and in a hierarchy of several customers."""
    invoice = _invoice(
        line(1, 100, 200) | {"subscription_id": "a"},
        line(2, 50, 150) | {"subscription_id": "a", "entity_type": "addon_item_price"},
        line(3, 5, 900) | {"subscription_id": "a", "entity_type": "adhoc"},
        line(4, 200, 300) | {"subscription_id": "b", "customer_id": "child"},
    )
    assert coverages(invoice, invoice.line_items) == [
        Coverage("child", "b", Period(200, 300)),
        Coverage("owner", "a", Period(50, 200)),
    ]


def test_usage_belongs_to_the_subscription_that_it_names() -> None:
    """Both ends of the period belong to it. Usage that names no subscription may belong to each of the customer."""
    one, other = Coverage("c", "a", Period(10, 20)), Coverage("c", "b", Period(20, 30))
    covered = [one, other, Coverage("d", "a", Period(0, 99))]
    assert covering(covered, "c", "a", 20) == [one]
    assert covering(covered, "c", "a", 21) == []
    assert covering(covered, "c", None, 20) == [one, other]
    assert covering(covered, "c", "z", 20) == []


@pytest.mark.parametrize("end", [LATEST_SECOND + 1, 17_723_196_000])
def test_a_period_that_no_usage_can_be_in_is_refused(end: int) -> None:
    """The table's sort keys have ten digits for the time."""
    with pytest.raises(Unprocessable) as failed:
        _left_alone(_invoice(line(1, START, end)))
    assert failed.value.code == "invalid_period"
