"""Tests the billable events of a webhook, their audit, and that seeding twice changes nothing."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import boto3
import httpx
import pytest

from app.errors import ConfigurationError
from local import embedded_aws
from local.chargebee.chargebee_start import start as start_chargebee
from local.demo.burst import _billed
from local.local_run import LocalRun
from local.money_audit import audit, invoices, wait, waiting
from local.resources import create_table
from local.sample_events import SAMPLES, default_file, fresh_events, sample_files
from local.seeding import charges, more_line_items, pending, seed
from tests.harness.json_kinds import with_unread
from tests.harness.service import NO_CAS
from tests.local.chargebee.in_process import EVENTS


@pytest.fixture(scope="module")
def run() -> Iterator[LocalRun]:
    with embedded_aws.start() as aws, start_chargebee(rate=10_000) as api:
        dynamodb = boto3.Session("x", "x", region_name=embedded_aws.REGION).client(
            "dynamodb", endpoint_url=aws.endpoint
        )
        table = create_table(dynamodb)
        dynamodb.close()
        yield LocalRun(0, aws.endpoint, "", "", api.url, api.api_key, table)


def items(run: LocalRun, customer_id: str) -> list[Any]:
    """Returns the customer's items, ordered by time."""
    dynamodb = boto3.Session("x", "x", region_name=embedded_aws.REGION).client("dynamodb", endpoint_url=run.endpoint)
    found = dynamodb.query(
        TableName=run.table,
        KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
        ExpressionAttributeValues={":pk": {"S": f"customer#{customer_id}"}, ":sk": {"S": "billable#"}},
    )["Items"]
    dynamodb.close()
    return found


@pytest.mark.parametrize("value", [b'"\\ud800"', b"7" * 4301], ids=["a lone surrogate", "a long number"])
def test_values_that_parsers_refuse(value: bytes) -> None:
    """A webhook that the service accepts is seeded, whatever a field has that the service does not read."""
    body = default_file().read_bytes()
    [event] = pending([with_unread(body, value)])
    assert charges(event) == charges(json.loads(body))


def test_charges_lie_within_the_period() -> None:
    """Each renewal has one to three charges with unique ids, and always the same ones."""
    bodies = list(fresh_events(default_file().read_bytes(), 300))
    counts, ids = set(), set()
    for event in [*EVENTS, *pending(bodies)]:
        found = charges(event)
        assert found == charges(event)
        counts.add(len(found))
        ids |= {one.id for one in found}
        lines = event["content"]["invoice"].get("line_items", []) + more_line_items(event)
        first = min((line["date_from"] for line in lines), default=0)
        last = max((line["date_to"] for line in lines), default=event["occurred_at"])
        assert all(first <= one.occurred_at < last and one.amount >= 1 for one in found)
        assert all(one.customer_id == event["content"]["invoice"]["customer_id"] for one in found)
    assert counts == {0, 1, 2, 3}  # one sample renews no subscription
    assert len(ids) == sum(len(charges(event)) for event in [*EVENTS, *pending(bodies)])


def test_a_charge_is_only_within_the_line_items_that_the_webhook_left_out() -> None:
    """A worker that does not fetch these line items misses a charge."""
    [event] = [event for event in EVENTS if more_line_items(event)]
    shown = max(line["date_to"] for line in event["content"]["invoice"]["line_items"])
    assert any(one.occurred_at > shown for one in charges(event))


def test_fresh_events_have_customers_of_their_own() -> None:
    """Otherwise the invoices of one customer and period would compete for its billable events."""
    events = list(pending(fresh_events(default_file().read_bytes(), 50)))
    assert len({event["content"]["invoice"]["customer_id"] for event in events}) == 50
    for event in events:
        invoice = event["content"]["invoice"]
        assert {line["customer_id"] for line in invoice["line_items"]} == {invoice["customer_id"]}


def test_what_is_no_event_is_left_alone() -> None:
    """Bodies that are not events are skipped, because tests also send them."""
    bodies = [b"", b"{}", (SAMPLES / "customer_changed.json").read_bytes(), default_file().read_bytes()]
    assert [event["id"] for event in pending(bodies)] == [json.loads(bodies[3])["id"]]


def test_seeding(run: LocalRun) -> None:
    """`seed` creates invoices and billable events, and changes nothing when it is repeated."""
    bodies = [file.read_bytes() for file in sample_files()]
    seed(run, bodies)
    assert [one["status"] for one in invoices(run.chargebee)] == ["pending"] * 10
    event = EVENTS[2]
    wanted = sorted((one.item() for one in charges(event)), key=lambda item: item["sk"]["S"])
    assert items(run, event["content"]["invoice"]["customer_id"]) == wanted
    dynamodb = boto3.Session("x", "x", region_name=embedded_aws.REGION).client("dynamodb", endpoint_url=run.endpoint)
    dynamodb.put_item(TableName=run.table, Item={**wanted[0], "invoice_id": {"S": "x"}})
    dynamodb.close()
    seed(run, bodies)
    assert items(run, event["content"]["invoice"]["customer_id"])[0]["invoice_id"] == {"S": "x"}


def test_the_same_webhook_twice(run: LocalRun) -> None:
    """`seed` writes the billable events of a repeated webhook once."""
    (body,) = fresh_events(default_file().read_bytes(), 1)
    seed(run, [body, body])
    (event,) = pending([body])
    assert len(items(run, event["content"]["invoice"]["customer_id"])) == len(charges(event))


def test_a_table_that_is_missing(run: LocalRun) -> None:
    """The error says that a repetition would not add the usage."""
    with pytest.raises(ConfigurationError, match="the invoices are registered, but their usage is missing"):
        seed(replace(run, table="no-such-table"), fresh_events(default_file().read_bytes(), 1))


def test_line_items_without_ids() -> None:
    """The service accepts such a webhook, so `seed` does."""
    event = deepcopy(next(event for event in EVENTS if more_line_items(event)))
    for line in event["content"]["invoice"]["line_items"]:
        del line["id"]
    assert more_line_items(event)


def test_an_invoice_is_lost_once(run: LocalRun) -> None:
    """`demo --count` counts webhooks, and an invoice that is not billed has several problems."""
    body = next(one for one in fresh_events(default_file().read_bytes(), 9) if len(charges(json.loads(one))) > 1)
    seed(run, [body])
    assert len(audit(run.chargebee, pending([body])).problems) > 1
    assert _billed(run, [body], [body]) == ("0 invoices closed", 1, "billed correctly")


def test_the_audit_names_what_is_wrong(run: LocalRun) -> None:
    """The audit names missing, doubled, wrong and foreign charges, and open or unknown invoices."""
    good, missing, doubled, unknown = pending(fresh_events(default_file().read_bytes(), 4))
    seed(run, [json.dumps(event).encode() for event in (good, missing, doubled)])
    for event, times in ((good, 1), (doubled, 2)):
        for one in charges(event) * times:
            _post(run, event, "add_charge", amount=one.amount, description=f"{one.description} [billable:{one.id}@1]")
        _post(run, event, "close")
    assert audit(run.chargebee, [good]).problems == []
    _post(run, missing, "add_charge", amount=1, description="by hand")
    _post(run, missing, "add_charge", amount=99_999, description=f"x [billable:{charges(missing)[0].id}@1]")
    seen = audit(run.chargebee, [good, missing, doubled, unknown])
    names = [event["content"]["invoice"]["id"] for event in (missing, doubled, unknown)]
    assert f"{names[0]}: still pending" in seen.problems
    assert f"{names[0]}: a charge for no billable event does not belong to this invoice" in seen.problems
    assert any(line.startswith(f"{names[0]}: {charges(missing)[0].id} was charged with") for line in seen.problems)
    assert f"{names[1]}: {charges(doubled)[0].id} was charged 2 times" in seen.problems
    assert f"{names[2]}: not registered at the Chargebee stand-in" in seen.problems
    assert seen.report(4).startswith("2 of 4 invoices closed, with ")


def test_waiting_ends(run: LocalRun) -> None:
    """`wait` ends when all invoices are closed, after the time-out, or when no worker runs."""
    closed, opened = pending(fresh_events(default_file().read_bytes(), 2))
    seed(run, [json.dumps(event).encode() for event in (closed, opened)])
    _post(run, closed, "close")
    counted: list[int] = []
    assert wait(run.chargebee, [closed], 60, counted.append, lambda: True)
    assert sum(counted) == 1
    assert waiting(run.chargebee, [closed, opened]) == [opened["content"]["invoice"]["id"]]
    assert not wait(run.chargebee, [opened], 0, counted.append, lambda: True)
    assert not wait(run.chargebee, [opened], 60, counted.append, lambda: False)


def _post(run: LocalRun, event: dict[str, Any], operation: str, **params: Any) -> None:
    path = f"/api/v2/invoices/{event['content']['invoice']['id']}/{operation}"
    httpx.post(
        run.chargebee + path, data=params, auth=(run.chargebee_api_key, ""), verify=NO_CAS, timeout=60
    ).raise_for_status()


def test_an_invoice_that_renews_nothing(run: LocalRun) -> None:
    """It has no usage, and is left pending; the audit names it if it is closed."""
    event = EVENTS[0]
    assert charges(event) == []
    seed(run, [json.dumps(event).encode()])
    left = audit(run.chargebee, [event])
    assert (left.problems, left.left, waiting(run.chargebee, [event])) == ([], 1, [])
    _post(run, event, "add_charge", amount=1, description="by hand")
    _post(run, event, "close")
    assert len(audit(run.chargebee, [event]).problems) == 2


def test_usage_of_a_consolidated_invoice_names_its_subscription() -> None:
    """Usage that names no subscription of several would belong to none."""
    event = deepcopy(next(event for event in EVENTS if len(charges(event)) == 3))
    for line in event["content"]["invoice"]["line_items"][::2]:
        line |= {"subscription_id": "another", "customer_id": "child"}
    found = charges(event)
    assert {(one.subscription_id, one.customer_id) for one in found} == {
        ("another", "child"),
        (event["content"]["invoice"]["subscription_id"], event["content"]["invoice"]["customer_id"]),
    }
    assert {one.item()["currency"]["S"] for one in found} == {"EUR"}
