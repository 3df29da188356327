"""What acts beside the worker, through the whole worker: a person, the writer of usage, and Chargebee's corrections."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from app.billing.charges import Billable
from app.billing.processing import open_billing
from app.composition import billing_access
from local.embedded_aws import EmbeddedAws
from tests.billing.conftest import settings_of
from tests.billing.mortal import Killed, Mortal
from tests.billing.stage import END, START, Stage, again, event_body, event_of, line, some
from tests.harness.service import Web
from tests.worker.conftest import Pair, make_pair, with_billing

COMMAND = [sys.executable, "-m", "app", "worker"]


class Whole(NamedTuple):
    """A worker process with its queues, the table and Chargebee's stand-in."""

    worker: Web
    pair: Pair
    stage: Stage

    def process(self, *bodies: dict[str, Any]) -> list[tuple[str, str | None]]:
        """Sends the events one after the other, and returns the outcome and the cause of each."""
        found = []
        for body in bodies:
            message_id = self.pair.send(json.dumps(body))
            line = self.worker.log(message_id=message_id)
            found.append((line["outcome"], line.get("cause")))
        return found

    def charges(self, body: dict[str, Any]) -> list[int]:
        """Returns the amounts that were charged on the invoice of the event."""
        return sorted(one["amount"] for one in self.stage.invoice(body["content"]["invoice"]["id"])["charges"])


@pytest.fixture
def pair(embedded: EmbeddedAws, stage: Stage) -> Pair:  # after `stage`, because `embedded` starts the queues
    return make_pair(embedded.endpoint)


@pytest.fixture
def whole(pair: Pair, stage: Stage, request: pytest.FixtureRequest) -> Iterator[Whole]:
    with ExitStack() as stack:
        environment = with_billing(pair, stage) | getattr(request, "param", {})
        yield Whole(stack.enter_context(Web(environment, command=COMMAND)), pair, stage)


def prepared(stage: Stage, usage: list[Billable] | None = None, **invoice: Any) -> dict[str, Any]:
    """Registers a new invoice, and writes usage of its customer."""
    body = event_body(**invoice)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(3) if usage is None else usage)
    return body


def killed(stage: Stage, body: dict[str, Any], at: int) -> None:
    """Kills a worker before its call with the index `at`: see tests/billing/test_crashes.py."""

    async def attempt() -> None:
        async with open_billing(billing_access(settings_of(stage)), "killed") as billing:
            with pytest.MonkeyPatch.context() as patch:
                Mortal(billing, patch, at)
                with pytest.raises(Killed):
                    await billing.process(event_of(body))

    asyncio.run(attempt())
    stage.end_leases(body)


def test_a_verdict_outlives_its_message(whole: Whole, stage: Stage) -> None:
    """A person has closed the invoice with one of three charges. Each delivery of the event ends as a dead letter."""
    body = prepared(stage)
    killed(stage, body, 8)
    stage.close(body["content"]["invoice"]["id"])
    verdict = ("dead_letter", "closed_without_charges")
    assert whole.process(body, body, body) == [verdict] * 3
    assert {attributes["detail"] for _, attributes in whole.pair.dead_letters()} == {
        "The invoice was closed without 2 of 3 charges"
    }


def test_a_writer_repeats_its_items(whole: Whole, stage: Stage) -> None:
    """What is put again is charged neither on the next invoice of the period, nor twice on one after a kill."""
    first = prepared(stage)
    customer = first["content"]["invoice"]["customer_id"]
    assert whole.process(first) == [("closed", None)]
    stage.put(customer, some(3))
    second = prepared(stage, [], customer_id=customer)
    assert whole.process(second) == [("closed_without_charge", None)]
    assert (whole.charges(first), whole.charges(second)) == ([100, 101, 102], [])

    third = prepared(stage)
    killed(stage, third, 8)
    stage.put(third["content"]["invoice"]["customer_id"], some(3))
    assert whole.process(third) == [("closed", None)]
    assert whole.charges(third) == [100, 101, 102]


def test_usage_that_changes_after_its_reservation_is_charged_as_it_was(whole: Whole, stage: Stage) -> None:
    """The worker says so in its log. The first charge is on the invoice already, so a second one would be too much."""
    body = prepared(stage)
    killed(stage, body, 8)
    stage.put(body["content"]["invoice"]["customer_id"], [replace(one, amount=7) for one in some(3)])
    assert whole.process(body) == [("closed", None)]
    assert whole.charges(body) == [100, 101, 102]
    whole.worker.wait_for("Usage was changed after it was reserved")


@pytest.mark.parametrize("correction", ["void", "delete"])
def test_a_regenerated_invoice_has_the_usage_of_the_old_one(whole: Whole, stage: Stage, correction: str) -> None:
    """Chargebee's new invoice does not have the charges of the old one, so the worker adds them again."""
    subscription = f"sub_{uuid4().hex}"
    old = prepared(stage, some(3, subscription_id=subscription), subscription_id=subscription)
    assert whole.process(old) == [("closed", None)]
    stage.correct(f"invoices/{old['content']['invoice']['id']}/{correction}")
    made = stage.correct(f"subscriptions/{subscription}/regenerate_invoice")
    new = again(old, id=made["id"], line_items=made["line_items"], resource_version=made["resource_version"])
    assert whole.process(new, new) == [("closed", None), ("already", None)]
    assert whole.charges(new) == [100, 101, 102]


@pytest.mark.parametrize("whole", [{"APP_BILLING_EXEMPT": "cus_review, sub_review"}], indirect=True)
def test_only_an_invoice_of_a_term_is_closed(whole: Whole, stage: Stage) -> None:
    """All others stay pending, without a charge, and so does that of a customer or a subscription that is exempt."""
    kept = [
        prepared(stage, line_items=[]),
        prepared(stage, line_items=[line(1) | {"entity_type": "adhoc"}]),
        prepared(stage, line_items=[line(1) | {"entity_type": "charge_item_price"}]),
        prepared(stage, recurring=False),
        prepared(stage, customer_id="cus_review"),
        prepared(stage, some(3, subscription_id="sub_review"), subscription_id="sub_review"),
    ]
    assert whole.process(*kept) == [("left_pending", None)] * len(kept)
    for body in kept:
        assert stage.invoice(body["content"]["invoice"]["id"])["status"] == "pending"
        assert whole.charges(body) == []
    for body, cause in zip(kept, (*["no_term_line"] * 3, "not_recurring", "exempt", "exempt"), strict=True):
        whole.worker.log(event_id=body["id"], cause=cause)


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


def test_an_odd_item_does_not_stop_the_rest(whole: Whole, stage: Stage) -> None:
    """An amount of 0 is billed without a charge. What cannot be charged is set aside with its reason."""
    zero, negative, good = (replace(one, amount=amount) for one, amount in zip(some(3), (0, -50, 7), strict=True))
    body = prepared(stage, [zero, negative, good])
    customer = body["content"]["invoice"]["customer_id"]
    fraction = some(1, START + 50)[0]
    stage.put(customer, [fraction])
    key = {"pk": {"S": f"customer#{customer}"}, "sk": {"S": f"billable#{fraction.suffix}"}}
    stage.set(key, "amount", {"N": "12.5"})
    assert whole.process(body, body) == [("closed_in_part", None), ("already", None)]
    assert whole.charges(body) == [7]
    assert "billed_at" in stage.charge(customer, zero)
    for odd in (negative, fraction):
        assert stage.charge(customer, odd)["reason"] == {"S": "invalid_amount"}


def test_an_invoice_that_chargebee_does_not_know_yet(whole: Whole, stage: Stage) -> None:
    """Chargebee's webhook can be ahead of its API, so a young event is retried. An old one is final at once."""
    old = event_body()
    young = event_body() | {"occurred_at": int(time.time())}
    stage.put(young["content"]["invoice"]["customer_id"], some(1))
    assert whole.process(old, young) == [("dead_letter", "invoice_not_found"), ("retried", "invoice_not_found_yet")]
    stage.register(young)
    assert whole.worker.log(event_id=young["id"], outcome="closed")["receives"] == 2
    assert whole.charges(young) == [100]
