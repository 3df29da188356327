"""The rate limit that all workers share."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any
from unittest.mock import AsyncMock

import pytest

from app.billing import rate
from app.billing.answers import LONGEST_REST, ApiAnswer
from app.billing.dynamodb import ConditionFailed, Table, open_table
from app.billing.items import RATE
from app.billing.rate import SLACK, TRIES, WINDOW, SharedRateLimit
from app.clock import now_ms
from app.errors import ChargebeeUnavailable, TableUnavailable
from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage, event_body, event_of, some

pytestmark = pytest.mark.anyio
PER_MINUTE = 6000

# A process with ten tasks, which prints the slots that they got. Both processes begin when both are ready.
WORKER = """
import asyncio, sys
from app.billing.dynamodb import open_table
from app.billing.rate import SharedRateLimit

async def main():
    slots = []
    records = []
    async with open_table(sys.argv[1], 20, records.append) as table:
        rate_limit = SharedRateLimit(table, int(sys.argv[2]))
        print("ready", flush=True)
        sys.stdin.readline()
        async def calls():
            while len(slots) < 70:
                slots.append(await rate_limit.slot(30))
        await asyncio.gather(*(calls() for _ in range(10)))
        print(len(records), *slots)

asyncio.run(main())
"""


@pytest.fixture
async def table(stage: Stage) -> AsyncIterator[Table]:
    async with open_table(stage.table, 20, stage.calls.append) as opened:
        yield opened


def test_processes_share_the_slots(stage: Stage) -> None:
    """No two processes get the same slot, all slots keep their distance, and one write reserves several slots."""
    command = [sys.executable, "-c", WORKER, stage.table, str(PER_MINUTE)]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env=os.environ)
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    answers = [worker.communicate(timeout=60)[0].split() for worker in workers]
    slots = sorted(float(slot) for answer in answers for slot in answer[1:])
    interval = 1000 * (WINDOW + SLACK) / PER_MINUTE
    apart = [later - earlier for earlier, later in pairwise(slots)]
    assert min(apart) > interval - 0.01
    assert len(slots) >= 140
    assert sum(int(answer[0]) for answer in answers) < 0.7 * len(slots)


def test_more_than_nine_tenths_of_the_limit_can_be_used() -> None:
    """At least 90 % of the limit can be used. Calls that are up to SLACK seconds late stay within the limit."""
    for limit in (1, 2, 150, 1000, 3500):
        interval = SharedRateLimit(None, limit).interval  # type: ignore[arg-type]  # no call is made
        assert 0.9 * limit < WINDOW / interval < limit
        assert (WINDOW + SLACK) / interval <= limit + 1e-9


async def test_one_caller_gets_nearly_every_slot(table: Table, stage: Stage) -> None:
    """The calls of one process get consecutive slots, with few writes, because no slot is reserved without a caller."""
    rate_limit = SharedRateLimit(table, PER_MINUTE)
    slots = await asyncio.gather(*(rate_limit.slot(30) for _ in range(60)))
    assert max(slots) - min(slots) < 1000 * rate_limit.interval * 60 * 1.1
    assert stage.tries("DynamoDB")["UpdateItem"] <= 4


async def test_who_would_wait_too_long_is_told_so(table: Table, stage: Stage) -> None:
    """The error has the time until the slot, and the caller takes no slot."""
    until = now_ms() + 100_000
    stage.dynamodb.put_item(TableName=stage.table, Item={**RATE, "next_at": {"N": str(until)}})
    rate_limit = SharedRateLimit(table, PER_MINUTE)
    with pytest.raises(ChargebeeUnavailable) as refused:
        await rate_limit.slot(30)
    assert 30 < (refused.value.retry_after or 0) <= 100
    assert refused.value.code == "rate_limit_reached"
    assert stage.dynamodb.get_item(TableName=stage.table, Key=RATE)["Item"]["next_at"] == {"N": str(until)}


@pytest.mark.slow
async def test_a_429_holds_everyone_back(table: Table) -> None:
    """No process calls before the rest ends, not even with a reserved slot. Of several rests, the longest counts."""
    ours, theirs = SharedRateLimit(table, 20), SharedRateLimit(table, 20)
    await ours.slot(30)
    waiting = asyncio.create_task(ours.slot(30))
    while not ours._sleeping and not waiting.done():  # noqa: ASYNC110  # counted, not signalled
        await asyncio.sleep(0.01)
    told = now_ms()
    await ours.push_back(4)
    await theirs.push_back(1)
    slots = [await waiting, await theirs.slot(30)]
    assert min(slots) >= told + 4000


@pytest.mark.parametrize("digits", ["1000000000", "9" * 400])
async def test_an_absurd_retry_after_rests_for_two_minutes(
    stage: Stage, billing: OpenBilling, digits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers do not rest for the thirty years that Chargebee, or a proxy in between, has named."""
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    refused = ApiAnswer(429, {"Retry-After": digits}, b'{"api_error_code": "api_request_limit_exceeded"}')
    async with billing() as worker:
        monkeypatch.setattr(worker.chargebee._calls, "_send", AsyncMock(return_value=refused))
        with pytest.raises(ChargebeeUnavailable) as failed:
            await worker.process(event_of(body))
        assert 0 < (failed.value.retry_after or 0) <= LONGEST_REST
    rests = float(stage.dynamodb.get_item(TableName=stage.table, Key=RATE)["Item"]["next_at"]["N"]) - now_ms()
    assert rests <= 1000 * LONGEST_REST


@pytest.mark.parametrize("ahead", [3_600_000, 10**12, 10**30], ids=["an hour", "thirty years", "for ever"])
async def test_a_budget_that_was_pushed_too_far_begins_anew(table: Table, stage: Stage, ahead: int) -> None:
    """The budget recovers by itself, although a worker with a wrong clock or an earlier version has written it."""
    stage.dynamodb.put_item(TableName=stage.table, Item={**RATE, "next_at": {"N": str(now_ms() + ahead)}})
    rate_limits = [SharedRateLimit(table, PER_MINUTE) for _ in range(2)]
    slots = await asyncio.gather(*(rate_limit.slot(30) for rate_limit in rate_limits for _ in range(5)))
    assert len(set(slots)) == 10
    assert max(slots) < now_ms() + 10_000


async def test_a_caller_that_gives_up_stops_nobody(table: Table) -> None:
    """If some callers are cancelled, all others still get a slot."""
    rate_limit = SharedRateLimit(table, PER_MINUTE)
    tasks = [asyncio.create_task(rate_limit.slot(30)) for _ in range(10)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(isinstance(result, float) for result in results) == 5


async def test_without_the_table_there_is_no_budget(stage: Stage) -> None:
    """A caller without a reserved slot makes no call."""
    async with open_table("missing", connections=20) as table:
        with pytest.raises(TableUnavailable):
            await SharedRateLimit(table, PER_MINUTE).slot(30)


DAMAGED = [{"S": "soon"}, {"NULL": True}, {"BOOL": True}, {"L": []}, {"M": {}}, {"B": b"1"}, {"NS": ["1"]}, None]


@pytest.mark.parametrize("value", DAMAGED, ids=str)
async def test_a_damaged_budget_begins_anew(table: Table, stage: Stage, value: Any) -> None:
    """The budget recovers from any value and from none, even if a 429 pushes the next slot back."""
    item = RATE if value is None else {**RATE, "next_at": value}
    for rests in (False, True):
        stage.dynamodb.put_item(TableName=stage.table, Item=item)
        rate_limit = SharedRateLimit(table, PER_MINUTE)
        if rests:
            await rate_limit.push_back(0.01)
        assert now_ms() - await rate_limit.slot(30) < 60_000
        assert "N" in stage.dynamodb.get_item(TableName=stage.table, Key=RATE)["Item"]["next_at"]


async def test_a_table_that_refuses_each_write_is_not_asked_without_end(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call fails after TRIES writes. An emulator or a proxy may reject every write, without returning the item."""
    refuse = AsyncMock(side_effect=ConditionFailed([{}]))
    monkeypatch.setattr(table, "update", refuse)
    with pytest.raises(TableUnavailable) as failed:
        await SharedRateLimit(table, PER_MINUTE).slot(30)
    assert failed.value.code == "budget_contended"
    assert refuse.await_count == TRIES


async def test_a_clock_that_was_ahead_at_a_429(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest ends on time although the clock is corrected, because the monotonic clock measures it."""
    rate_limit = SharedRateLimit(table, PER_MINUTE)
    with monkeypatch.context() as ahead:
        ahead.setattr(rate, "now_ms", lambda: now_ms() + 86_400_000)
        ahead.setattr(rate, "LATE", 0.0)
        await rate_limit.push_back(0.0)
    assert await asyncio.wait_for(rate_limit.slot(30), 60) < now_ms() + 1000


async def test_a_clock_that_is_set_back(table: Table) -> None:
    """Spare slots that were reserved before are far ahead then: no caller sleeps until their time."""
    rate_limit = SharedRateLimit(table, PER_MINUTE)
    rate_limit._spare.extend(now_ms() + 86_400_000 + number for number in range(10))
    slots = await asyncio.wait_for(asyncio.gather(*(rate_limit.slot(30) for _ in range(5))), 60)
    assert max(slots) < now_ms() + 1000
    assert not rate_limit._spare


async def test_an_answer_of_429_is_waited_for(stage: Stage, billing: OpenBilling) -> None:
    """If Chargebee's limit is lower than the setting, its Retry-After counts, and no repetition outlives the lease."""
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    stage.behave(rate=1)
    async with billing(billing_lease=30, chargebee_timeout=10) as worker:
        with pytest.raises(ChargebeeUnavailable) as refused:
            await worker.process(event_of(body))
    assert refused.value.code == "rate_limit_reached"
    assert 0 < (refused.value.retry_after or 0) <= 61
