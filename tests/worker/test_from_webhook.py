"""The whole way of a webhook: HTTP, the queue, the worker, the table, and the invoice at Chargebee's stand-in."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from app.billing.charges import Billable
from app.billing.items import RATE
from app.clock import now_ms
from local.chargebee.chargebee_start import ChargebeeApi
from local.embedded_aws import EmbeddedAws
from tests.billing.conftest import open_stage
from tests.billing.stage import END, START, Stage, event_body, line, some
from tests.harness.service import Web, environment
from tests.worker.conftest import Pair, make_pair, with_billing


class Whole(NamedTuple):
    """Both running processes, on one pair of queues."""

    pair: Pair
    stage: Stage
    web: Web
    worker: Web

    def post(self, body: dict[str, Any]) -> int:
        return self.web.post(json.dumps(body).encode()).status_code

    def closed(self, body: dict[str, Any]) -> list[int]:
        """Posts the webhook, waits until its invoice is closed, and returns the amounts of its charges."""
        assert self.post(body) == 200
        self.worker.log(event_id=body["id"], outcome="closed")
        invoice = self.stage.invoice(body["content"]["invoice"]["id"])
        assert len(invoice["closes"]) == 1
        return sorted(charge["amount"] for charge in invoice["charges"])


@contextmanager
def started(embedded: EmbeddedAws, api: ChargebeeApi, *, fifo: bool) -> Iterator[Whole]:
    pair = make_pair(embedded.endpoint, fifo=fifo)
    with (
        open_stage(embedded, api) as stage,
        Web(with_billing(pair, stage), command=[sys.executable, "-m", "app", "worker"]) as worker,
        Web(environment(embedded.endpoint, pair.url)) as web,
    ):
        yield Whole(pair, stage, web, worker)


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["standard", "fifo"])
def whole(request: pytest.FixtureRequest, embedded: EmbeddedAws, api: ChargebeeApi) -> Iterator[Whole]:
    """The processes serve several tests, because each test has its own customers, invoices and events."""
    with started(embedded, api, fifo=request.param) as whole:
        yield whole


def test_brackets_in_a_plans_name(whole: Whole) -> None:
    """Usage before and after the period is not charged, whatever the plan is called."""
    body = event_body(line_items=[line(1) | {"description": "Workshop Suite Team (March 2026) [EUR]"}])
    whole.stage.register(body)
    usage = [
        Billable("last-year", 1000, "Usage", START - 365 * 86_400),
        Billable("now", 2000, "Usage", START + 5),
        Billable("next", 4000, "Usage", END + 5),
    ]
    whole.stage.put(body["content"]["invoice"]["customer_id"], usage)
    assert whole.closed(body) == [2000]


def test_two_events_with_one_id(whole: Whole) -> None:
    """Both events are charged."""
    body = event_body()
    whole.stage.register(body)
    twins = [Billable("b1", 2000, "Usage", START + 5), Billable("b1", 700, "Usage", START + 9)]
    whole.stage.put(body["content"]["invoice"]["customer_id"], twins)
    assert whole.closed(body) == [700, 2000]


@pytest.mark.slow
def test_an_absurd_retry_after(embedded: EmbeddedAws, api: ChargebeeApi) -> None:
    """SQS delivers the message again within four minutes, not after twelve hours, the longest visibility timeout.

    The worker pauses for two minutes, so this test has processes of its own.
    """
    body = event_body()
    with started(embedded, api, fifo=False) as whole:
        whole.stage.register(body)
        whole.stage.behave(rests=1, retry_after="1000000000")
        assert whole.post(body) == 200
        retried = whole.worker.log(event_id=body["id"], outcome="retried")
        whole.stage.behave(rests=0, retry_after="")
    assert retried["retry_in_s"] <= 240


def test_a_budget_that_was_pushed_back_for_thirty_years(whole: Whole) -> None:
    """The budget recovers by itself. An earlier version of the worker may have written it."""
    body = event_body()
    whole.stage.register(body)
    whole.stage.put(body["content"]["invoice"]["customer_id"], some(1))
    until = {"N": str(now_ms() + 10**12)}
    whole.stage.dynamodb.put_item(TableName=whole.stage.table, Item={**RATE, "next_at": until})
    assert whole.closed(body) == [100]


@pytest.mark.slow
def test_a_line_whose_period_ends_before_it_begins(whole: Whole) -> None:
    """Such a line is of no term, so the invoice stays pending, for a person."""
    body = event_body(line_items=[line(1, END, START)])
    whole.stage.register(body)
    assert whole.post(body) == 200
    assert whole.worker.log(event_id=body["id"], outcome="left_pending")
    assert whole.stage.invoice(body["content"]["invoice"]["id"])["status"] == "pending"


@pytest.mark.slow
def test_an_event_that_can_never_be_billed(whole: Whole) -> None:
    """The event goes to the dead-letter queue with its reason, and delays no good event of its customer."""
    bad = event_body(line_items=[line(1, 17_723_196_000, 17_749_944_000)])
    good = event_body(customer_id=bad["content"]["invoice"]["customer_id"])
    whole.stage.register(bad, good)
    whole.stage.put(good["content"]["invoice"]["customer_id"], some(1))
    assert whole.post(bad) == 200
    assert whole.closed(good) == [100]
    assert whole.worker.log(event_id=bad["id"], outcome="dead_letter")["cause"] == "invalid_period"
    [(_, attributes)] = whole.pair.dead_letters()
    assert attributes["reason"] == "invalid_period"


@pytest.mark.parametrize("name", ["id", "customer_id"])
def test_an_id_that_no_invoice_can_have(embedded: EmbeddedAws, name: str) -> None:
    """The webhook answers 422, and nothing is queued."""
    pair = make_pair(embedded.endpoint)
    odd = [".", "..", "a\nb", "\u0000"] if name == "id" else []
    with Web(environment(embedded.endpoint, pair.url)) as web:
        for value in ["x" * 3000, "x" * 51, "", *odd]:
            assert web.post(json.dumps(event_body(**{name: value})).encode()).status_code == 422
    assert pair.counts() == (0, 0)
