"""What acts beside the worker, through the whole worker: a person, the writer of usage, and Chargebee's corrections."""

import time
from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from local.chargebee.chargebee_start import ChargebeeApi
from local.embedded_aws import EmbeddedAws
from tests.billing.conftest import open_stage
from tests.billing.stage import START, Stage, again, event_body, line, some
from tests.worker.beside import Whole, killed, prepared, whole_worker


@pytest.fixture(scope="module")
def stage(embedded: EmbeddedAws, api: ChargebeeApi) -> Iterator[Stage]:
    """One table and one worker for all tests, because each test has its own customers, invoices and events."""
    with open_stage(embedded, api) as opened:
        yield opened


@pytest.fixture(scope="module")
def whole(stage: Stage, embedded: EmbeddedAws, request: pytest.FixtureRequest) -> Iterator[Whole]:
    with whole_worker(embedded, stage, **getattr(request, "param", {})) as started:
        yield started


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
