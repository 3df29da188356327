"""Compares the page's values with what the sender of the webhooks knows, on a real service and embedded queue."""

import json
import math
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import httpx
import pytest

from app.telemetry.metrics.webhooks import SECONDS
from local.delay import PATH as DELAY
from local.live.exposition import Scrape, parse
from local.live.values import totals, values
from local.local_run import LocalRun, read_run
from local.sample_events import fresh_events
from tests.harness.commands import LocalRunProcess
from tests.harness.raw import RawSender
from tests.harness.service import NO_CAS, Web

DEMO = ("demo", "demo")
BASIC = "Basic ZGVtbzpkZW1v"


class Local:
    """A local run whose webhooks this test sends one after the other, and measures."""

    def __init__(self, web: Web, run: LocalRun, client: httpx.Client) -> None:
        assert run.metrics is not None
        self.web = web
        self._run, self._metrics, self._client = run, run.metrics, client

    def slow_down(self, seconds: float) -> None:
        answer = httpx.put(self._run.endpoint + DELAY, content=str(seconds), verify=NO_CAS, timeout=60)
        assert answer.status_code == 204

    def post(self, body: bytes) -> tuple[int, float]:
        """Returns the status, and the milliseconds until the answer."""
        began = time.perf_counter()
        status = self._client.post("/webhooks/chargebee", content=body).status_code
        return status, (time.perf_counter() - began) * 1000

    def scrape(self) -> Scrape:
        return parse(httpx.get(self._metrics, verify=NO_CAS, timeout=60).text, time.monotonic())

    def scrape_with(self, webhooks: int) -> Scrape:
        """Returns the first scrape with so many webhooks, because a service counts an answer after sending it."""
        deadline = time.monotonic() + 60
        while (found := self.scrape()).total("invoice_webhook_webhooks_total") != webhooks:
            assert time.monotonic() < deadline, totals(found)
        return found


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    """A service that admits one webhook at a time."""
    with LocalRunProcess(tmp_path, max_in_flight=1, max_wait=0) as web, web.client(auth=DEMO) as client:
        yield Local(web, read_run(tmp_path), client)


@pytest.mark.slow
def test_times(local: Local, event: bytes) -> None:
    """Medians and 99th percentiles of webhooks and of calls are between the queue's delay and what the sender measured.

    A call takes at least the delay, the service's answer takes longer than the call, and its sender waits longer still;
    the same is true of their quantiles. So a busy machine widens the bounds only by what it really adds. An estimate
    may be anywhere in the bucket of the true value.
    """
    before = local.scrape()
    sent = 0
    for milliseconds, webhooks in ((8, 100), (100, 20), (500, 5)):
        local.slow_down(milliseconds / 1000)
        answers = [local.post(body) for body in islice(fresh_events(event, webhooks), webhooks)]
        assert {status for status, _ in answers} == {200}
        took = sorted(measured for _, measured in answers)
        sent += webhooks
        after = local.scrape_with(sent)
        shown = values(before, after)
        for share, names in ((0.5, ("p50", "sqs_p50")), (0.99, ("p99", "sqs_p99"))):
            measured = took[math.ceil(share * webhooks) - 1]
            for name in names:
                value = shown[name] or 0
                assert _lower(milliseconds) <= value <= _upper(measured), (milliseconds, name, took)
        before = after


def _lower(milliseconds: float) -> float:
    return max(1000 * bound for bound in SECONDS if 1000 * bound < milliseconds)


def _upper(milliseconds: float) -> float:
    return min(1000 * bound for bound in SECONDS if 1000 * bound >= milliseconds)


def test_counts(local: Local, event: bytes) -> None:
    """The outcomes match what the sender got: 200, 401, 422, 503, or nothing because it hung up."""
    bodies = fresh_events(event, 4)
    assert [local.post(next(bodies))[0] for _ in range(3)] == [200] * 3
    assert [local.post(b"{}")[0] for _ in range(2)] == [422] * 2
    assert local.post(json.dumps(json.loads(event) | {"event_type": "customer_created"}).encode())[0] == 200
    assert local.web.post(event, auth=None).status_code == 401
    with RawSender(local.web.address) as sender:
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue", authorization=BASIC)
        sender.wait_until_read()  # the one webhook in flight
        assert [local.post(event)[0] for _ in range(2)] == [503] * 2
        sender.send(event[:100])
    assert totals(local.scrape_with(10)) == {
        "queued": {"queued": 3},
        "ignored": {"ignored": 1},
        "rejected": {"invalid-event": 2, "unauthorized": 1},
        "overloaded": {"overloaded": 2},
        "unanswered": {"unanswered": 1},
    }
