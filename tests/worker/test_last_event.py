"""A worker's warning after a gap in which no event has arrived."""

import asyncio
import json
import signal
import sys
import time
from typing import Any

import pytest
from loguru import logger

from app.billing.items import Update
from app.clock import now_seconds
from app.errors import TableUnavailable
from app.events import Event
from app.worker import last_event as module
from app.worker.last_event import KEY, REDELIVERED_SECONDS, gap_since, noting
from local.embedded_aws import EmbeddedAws
from tests.billing.stage import Stage, event_body, event_of
from tests.harness.service import Web
from tests.worker.conftest import make_pair, with_billing
from tests.worker.controller import eventually

NOW, DAY = 1_785_535_200, 24 * 3600


@pytest.mark.parametrize(
    ("gap", "since"),
    [
        (-60, None),
        (REDELIVERED_SECONDS, None),
        (REDELIVERED_SECONDS + 1, "7d"),
        (4 * DAY, "8d"),
        (5 * DAY - 7 * 3600, "8d"),
        (5 * DAY - 7 * 3600 + 1, "9d"),
    ],
)
def test_the_gap_that_reconcile_must_cover(gap: int, since: str | None) -> None:
    """Only a gap longer than Chargebee redelivers counts; the days before it, of such redeliveries, are covered too."""
    assert gap_since(NOW - gap, NOW) == since


def _last_event(stage: Stage) -> int | None:
    item: Any = stage.dynamodb.get_item(TableName=stage.table, Key=KEY).get("Item")
    return None if item is None else int(item["at"]["N"])


def _note(stage: Stage, at: int) -> None:
    stage.dynamodb.put_item(TableName=stage.table, Item=KEY | {"at": {"N": str(at)}})


def test_a_start_after_a_gap(embedded: EmbeddedAws, stage: Stage) -> None:
    """The warning names the command. The very first start has none, and the next start after an event has none."""
    began = int(time.time())

    def warnings() -> list[str]:
        """Starts a worker, sends an event, and returns the warnings until the worker has noted the event's time."""
        pair = make_pair(embedded.endpoint)
        with Web(with_billing(pair, stage), command=[sys.executable, "-m", "app", "worker"]) as worker:
            pair.send(json.dumps(event_body() | {"event_type": "customer_changed", "content": {}}))
            worker.log(outcome="recorded")
            eventually(lambda: began <= (_last_event(stage) or 0) <= time.time())
            assert worker.stop(signal.SIGINT) == 0
        return [line["message"] for line in worker.lines if line["level"] == "WARNING"]

    assert warnings() == []
    _note(stage, began - 4 * DAY)
    [warning] = warnings()
    assert warning == (
        "No worker has received an event for 4.0 days: Chargebee gives up a webhook after 3 days 7 hours, so"
        " `python -m app reconcile --since 8d` enqueues what was lost"
    )
    assert warnings() == []


class Unsteady:
    """Stands for the table, whose first call fails, and whose item is `gap` seconds old. `notes`: the times written."""

    def __init__(self, gap: int) -> None:
        self.gap, self.asked, self.notes = gap, 0, list[int]()
        self.noted = asyncio.Event()

    async def get_all(self, keys: list[Any]) -> list[Any]:
        self.asked += 1
        if self.asked == 1:
            raise TableUnavailable("DynamoDB rejected a call", "ThrottlingException")
        return [KEY | {"at": {"N": str(now_seconds() - self.gap)}}]

    async def update(self, update: Update) -> None:
        self.notes.append(int(update.values["at"]))
        self.noted.set()
        raise TableUnavailable("DynamoDB rejected a call", "ThrottlingException")


@pytest.mark.anyio
async def test_a_table_that_does_not_answer_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event is processed at once, but its time replaces that of the last event only after the warning."""
    monkeypatch.setattr(module, "LONGEST_PAUSE_SECONDS", 0.0)
    lines: list[str] = []
    handler = logger.add(lambda message: lines.append(str(message)), level="WARNING", format="{message}")
    table: Any = Unsteady(4 * DAY)
    processed: list[str] = []

    async def process(event: Event) -> str:
        processed.append(event.id)
        return "closed"

    event = event_of(event_body())
    async with noting(table, process) as processing:
        assert [await processing(event), await processing(event)] == ["closed"] * 2
        assert table.notes == []
        await table.noted.wait()
        assert await processing(event) == "closed"
    logger.remove(handler)
    assert len(processed) == 3
    assert len(table.notes) == 1  # at most once a minute
    assert [line.startswith("No worker has received an event for 4.0 days") for line in lines] == [True]
