"""The worker with the billing work, the table and Chargebee's stand-in; `reconcile` enqueues missing events."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from app.billing.items import RATE
from app.billing.processing import open_billing
from app.from_settings import billing_access
from local.embedded_aws import EmbeddedAws
from tests.billing.conftest import settings_of
from tests.billing.stage import Stage, event_body, event_of, some
from tests.harness.queues import drain
from tests.harness.service import Web, clean_environment
from tests.worker.conftest import Pair, make_pair, with_billing
from tests.worker.controller import eventually

Command = Callable[..., list[str]]


@pytest.fixture
def billed(embedded: EmbeddedAws, stage: Stage) -> Pair:  # a fixture
    return make_pair(embedded.endpoint)


@pytest.fixture
def start(billed: Pair, stage: Stage) -> Iterator[Callable[[], Web]]:
    with ExitStack() as stack:
        command = [sys.executable, "-m", "app", "worker"]
        yield lambda: stack.enter_context(Web(with_billing(billed, stage), command=command))


def _reconcile(pair: Pair, stage: Stage, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "app", "reconcile", "--since", "9999d", "--settled", "0s", *options]
    environment = with_billing(pair, stage)
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False)


async def _process(stage: Stage, body: dict[str, Any]) -> None:
    async with open_billing(billing_access(settings_of(stage)), "test") as billing:
        assert await billing.process(event_of(body)) == "closed"


def _prepared(stage: Stage, charges: int = 2) -> dict[str, Any]:
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(charges))
    return body


def test_an_invoice_is_closed(billed: Pair, stage: Stage, start: Callable[[], Web]) -> None:
    """A second delivery of the same event changes nothing."""
    body = _prepared(stage)
    worker = start()
    for outcome in ("closed", "already"):
        billed.send(json.dumps(body))
        assert worker.log(event_id=body["id"], outcome=outcome)["receives"] == 1
    assert worker.stop(signal.SIGINT) == 0
    found = stage.invoice(body["content"]["invoice"]["id"])
    assert found["status"] != "pending"
    assert [charge["amount"] for charge in found["charges"]] == [100, 101]
    assert billed.counts() == (0, 0)


def test_an_invoice_that_is_not_there_is_poison(
    billed: Pair,
    start: Callable[[], Web],
    stage: Stage,
) -> None:
    """Chargebee's answer is the reason."""
    body = event_body()
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    worker = start()
    billed.send(json.dumps(body))
    line = worker.log(event_id=body["id"], outcome="dead_letter")
    [(_, attributes)] = billed.dead_letters()
    assert attributes["reason"] == line["cause"]


def test_a_pause_until_a_date(billed: Pair, stage: Stage, start: Callable[[], Web]) -> None:
    """If Chargebee's Retry-After is a date, no worker calls Chargebee before that date."""
    body = _prepared(stage)
    until = datetime.now(UTC) + timedelta(seconds=90)
    stage.behave(rests=1, retry_after=format_datetime(until, usegmt=True))
    start()
    billed.send(json.dumps(body))

    def next_call() -> float:
        item = stage.dynamodb.get_item(TableName=stage.table, Key=RATE).get("Item", {"next_at": {"N": "0"}})
        return float(item["next_at"]["N"]) / 1000

    eventually(lambda: next_call() >= until.timestamp() - 2)  # the header has whole seconds
    stage.behave(rests=0, retry_after="")


def test_what_was_never_processed_is_enqueued(
    billed: Pair,
    stage: Stage,
    start: Callable[[], Web],
) -> None:
    """The command enqueues the events as the webhook would have; afterwards nothing is missing."""
    done, missing = _prepared(stage), _prepared(stage)
    asyncio.run(_process(stage, done))

    looked = _reconcile(billed, stage, "--dry-run")
    assert looked.returncode == 0, looked.stderr
    assert done["id"] not in looked.stdout
    assert re.search(r"[1-9]\d* missing, none enqueued", looked.stdout)  # shows twenty, and other tests left some, too
    assert billed.counts() == (0, 0)

    enqueued = _reconcile(billed, stage)
    assert enqueued.returncode == 0, enqueued.stderr
    sent = {json.loads(body)["id"]: (body, attributes) for body, attributes in drain(billed.sqs, billed.url)}
    assert missing["id"] in sent
    assert done["id"] not in sent
    body, attributes = sent[missing["id"]]
    assert json.loads(body)["content"] == missing["content"]
    assert {"event_id", "event_type", "api_version", "received_at"} <= set(attributes)

    for again, _ in sent.values():
        billed.send(again)
    worker = start()
    worker.log(event_id=missing["id"], outcome="closed")
    eventually(lambda: billed.counts() == (0, 0))
    assert missing["id"] not in _reconcile(billed, stage, "--dry-run").stdout


def test_chargebee_that_is_down_is_one_clear_line(billed: Pair, stage: Stage) -> None:
    gone = stage._replace(api=type(stage.api)("http://127.0.0.1:9", "key", 0))
    ended = _reconcile(billed, gone)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("error: Chargebee")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("since", ["3", "d", "3w", "-1d"])
def test_a_duration_has_a_unit(since: str) -> None:
    command = [sys.executable, "-m", "app", "reconcile", "--since", since]
    ended = subprocess.run(
        command, env=clean_environment(), capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert ended.returncode == 2
    assert "is not a duration: allowed is a number with s, m, h or d" in ended.stderr
