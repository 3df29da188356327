"""Starts a whole worker for the tests of what acts beside it, and prepares and reads its invoices."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from app.billing.charges import Billable
from app.billing.processing import open_billing
from app.from_settings import billing_access
from local.embedded_aws import EmbeddedAws
from tests.billing.conftest import settings_of
from tests.billing.mortal import Killed, Mortal
from tests.billing.stage import Stage, event_body, event_of, some
from tests.harness.service import Web
from tests.worker.conftest import Pair, make_pair, with_billing


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

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Runs `python -m app` with the arguments."""
        command = [sys.executable, "-m", "app", *arguments]
        environment = with_billing(self.pair, self.stage)
        return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False)


@contextmanager
def whole_worker(embedded: EmbeddedAws, stage: Stage, **settings: str) -> Iterator[Whole]:
    pair = make_pair(embedded.endpoint)
    environment = with_billing(pair, stage) | settings
    with Web(environment, command=[sys.executable, "-m", "app", "worker"]) as worker:
        yield Whole(worker, pair, stage)


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
