"""Compares the page's values with what the sender of the webhooks knows, on a real service and embedded queue."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from local.live.exposition import Scrape, parse
from local.live.values import totals
from local.local_run import read_run
from local.sample_events import fresh_events
from tests.harness.commands import LocalRunProcess
from tests.harness.raw import RawSender
from tests.harness.service import NO_CAS, Web

DEMO = ("demo", "demo")
BASIC = "Basic ZGVtbzpkZW1v"


class Local:
    """A local run whose webhooks this test sends one after the other."""

    def __init__(self, web: Web, metrics: str, client: httpx.Client) -> None:
        self.web = web
        self._metrics, self._client = metrics, client

    def post(self, body: bytes) -> int:
        return self._client.post("/webhooks/chargebee", content=body).status_code

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
        metrics = read_run(tmp_path).metrics
        assert metrics is not None
        yield Local(web, metrics, client)


def test_counts(local: Local, event: bytes) -> None:
    """The outcomes match what the sender got: 200, 401, 422, 503, or nothing because it hung up."""
    bodies = fresh_events(event, 4)
    assert [local.post(next(bodies)) for _ in range(3)] == [200] * 3
    assert [local.post(b"{}") for _ in range(2)] == [422] * 2
    assert local.post(json.dumps(json.loads(event) | {"event_type": "customer_created"}).encode()) == 200
    assert local.web.post(event, auth=None).status_code == 401
    with RawSender(local.web.address) as sender:
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue", authorization=BASIC)
        sender.wait_until_read()  # the one webhook in flight
        assert [local.post(event) for _ in range(2)] == [503] * 2
        sender.send(event[:100])
    assert totals(local.scrape_with(10)) == {
        "queued": {"queued": 3},
        "ignored": {"ignored": 1},
        "rejected": {"invalid-event": 2, "unauthorized": 1},
        "overloaded": {"overloaded": 2},
        "unanswered": {"unanswered": 1},
    }
