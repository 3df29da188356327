"""Whose usage an invoice has, through the whole worker: currencies, subscriptions and account hierarchies."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from local.chargebee.chargebee_start import ChargebeeApi
from local.embedded_aws import EmbeddedAws
from tests.billing.conftest import open_stage
from tests.billing.stage import END, START, Stage, line, some
from tests.worker.beside import Whole, prepared, whole_worker


@pytest.fixture(scope="module")
def stage(embedded: EmbeddedAws, api: ChargebeeApi) -> Iterator[Stage]:
    """One table and one worker for all tests, because each test has its own customers, invoices and events."""
    with open_stage(embedded, api) as opened:
        yield opened


@pytest.fixture(scope="module")
def whole(stage: Stage, embedded: EmbeddedAws) -> Iterator[Whole]:
    with whole_worker(embedded, stage) as started:
        yield started


def test_an_amount_belongs_to_its_currency(whole: Whole, stage: Stage) -> None:
    """Usage in US cents is not charged in yen. The next invoice in US dollars has it."""
    cents = some(1, currency="USD")
    yen = prepared(stage, [*cents, *some(1, START + 9, currency="JPY")], currency_code="JPY")
    customer = yen["content"]["invoice"]["customer_id"]
    dollars = prepared(stage, [], customer_id=customer, currency_code="USD")
    assert whole.process(yen, dollars) == [("closed", None)] * 2
    assert whole.charges(yen) == whole.charges(dollars) == [100]
    assert stage.billables(customer)[0].invoice_id == dollars["content"]["invoice"]["id"]


def test_usage_goes_to_the_invoice_of_its_subscription(whole: Whole, stage: Stage) -> None:
    """With two subscriptions, each has an invoice of its own. The charge has the subscription and the period."""
    one, other = f"sub_{uuid4().hex}", f"sub_{uuid4().hex}"
    usage = [*some(1, subscription_id=other), *some(2, START + 9, subscription_id=one)[1:]]
    first = prepared(stage, usage, subscription_id=one)
    second = prepared(stage, [], subscription_id=other, customer_id=first["content"]["invoice"]["customer_id"])
    assert whole.process(first, second) == [("closed", None)] * 2
    assert (whole.charges(first), whole.charges(second)) == ([101], [100])
    [charge] = stage.invoice(first["content"]["invoice"]["id"])["charges"]
    assert (charge["subscription_id"], charge["date_from"], charge["date_to"]) == (one, START, END)


def test_usage_of_a_hierarchy_is_that_of_the_lines_customers(whole: Whole, stage: Stage) -> None:
    """The invoice goes to the owner. Two children have usage with the same id and time, and both are charged."""
    family = uuid4().hex[:8]
    lines = [
        line(number) | {"customer_id": f"{name}_{family}", "subscription_id": f"sub_{name}_{family}"}
        for number, name in enumerate(("a", "b"))
    ]
    body = prepared(stage, some(1, subscription_id=None), line_items=lines, subscription_id=None)
    for name in ("a", "b"):
        stage.put(f"{name}_{family}", some(1, subscription_id=f"sub_{name}_{family}"))
    assert whole.process(body) == [("closed", None)]
    assert whole.charges(body) == [100, 100]
    assert stage.billables(body["content"]["invoice"]["customer_id"])[0].invoice_id is None


def test_usage_of_no_subscription_is_not_guessed(whole: Whole, stage: Stage) -> None:
    """It is charged if the customer has one subscription, and set aside if it may belong to another one."""
    alone = prepared(stage, some(1, subscription_id=None))
    two = prepared(stage, some(1, subscription_id=None))
    stage.subscribe(two["content"]["invoice"]["customer_id"], f"sub_{uuid4().hex}", started_at=START)
    assert whole.process(alone, two) == [("closed", None), ("closed_in_part", None)]
    assert (whole.charges(alone), whole.charges(two)) == ([100], [])
    [usage] = some(1)
    assert stage.charge(two["content"]["invoice"]["customer_id"], usage)["reason"] == {"S": "ambiguous_subscription"}
