"""A reserved slot passes before its call can begin: the caller takes a few more slots, and then gives up."""

import asyncio
from typing import Any

import pytest

from app.billing import rate
from app.billing.api_calls import ApiCalls
from app.billing.caller import Caller
from app.billing.dynamodb import Table
from app.billing.items import Update
from app.billing.rate import MISSES, SharedRateLimit
from app.clock import now_ms
from app.errors import ChargebeeUnavailable

pytestmark = pytest.mark.anyio
PER_MINUTE = 6000


class OneItem(Table):
    """A table with the item of the rate limit. `blocks`: the number of writes that have reserved slots."""

    def __init__(self) -> None:
        self.blocks = 0
        self._next_at = 0.0

    async def update(self, update: Update) -> Any:
        self.blocks += 1
        after = update.values.get("after", update.values.get("until"))  # `until`: the end of a rest
        self._next_at = float(after) if after is not None else self._next_at + float(update.values["block"])
        return {"next_at": {"N": str(self._next_at)}}


class SlowLease(Caller):
    """A lease that ends soon, so that each call needs a renewal, which takes longer than a slot is valid."""

    async def allowance(self, seconds: float) -> float:
        await asyncio.sleep(1.5 * rate.LATE)
        return seconds


async def test_renewals_that_outlast_each_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the time-out is nearly as long as the lease and the table is slow, each renewal outlasts the slot."""
    monkeypatch.setattr(rate, "LATE", 0.02)
    table = OneItem()
    calls = ApiCalls(None, SharedRateLimit(table, PER_MINUTE), 20, 21)  # type: ignore[arg-type]  # no call is made
    with pytest.raises(ChargebeeUnavailable) as failed:
        await asyncio.wait_for(calls.make(SlowLease(), "retrieve", "/"), 5)
    assert failed.value.code == "slots_missed"
    assert table.blocks == MISSES


async def test_a_loop_that_is_always_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without CPU time wakes after the time of each of its slots."""
    monkeypatch.setattr(rate, "LATE", 0.02)
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds: sleep(max(seconds, 0) + 0.03))
    table = OneItem()
    with pytest.raises(ChargebeeUnavailable) as failed:
        await asyncio.wait_for(SharedRateLimit(table, PER_MINUTE).slot(30), 5)
    assert failed.value.code == "slots_missed"
    assert table.blocks == MISSES


async def test_a_rest_is_no_missed_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """While Chargebee answers 429, a caller waits for as many rests as its patience allows."""
    monkeypatch.setattr(rate, "LATE", 0.02)
    rate_limit = SharedRateLimit(OneItem(), PER_MINUTE)
    rests = 0
    sleep = asyncio.sleep

    async def sleep_until_a_429(seconds: float) -> None:
        nonlocal rests
        await sleep(seconds)
        if rests < 2 * MISSES:  # another call of this process has got a 429 meanwhile
            rests += 1
            await rate_limit.push_back(0.1)

    monkeypatch.setattr(asyncio, "sleep", sleep_until_a_429)
    await asyncio.wait_for(rate_limit.slot(30), 5)
    assert rests == 2 * MISSES


async def test_a_missed_slot_does_not_restart_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait for all slots of a call together is no longer than the patience."""
    monkeypatch.setattr(rate, "LATE", 0.02)
    table = OneItem()
    rate_limit = SharedRateLimit(table, 60)
    await rate_limit.slot(30)
    monkeypatch.setattr(rate_limit, "is_valid", lambda slot: slot > now_ms())  # each further slot is missed
    with pytest.raises(ChargebeeUnavailable) as failed:
        await asyncio.wait_for(rate_limit.slot(1.5), 5)
    assert failed.value.code == "rate_limit_reached"
