"""A worker is killed between any two steps; another one ends its work, without the help of idempotency keys."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.billing.processing import Billing
from app.errors import ChargebeeUnavailable, ClaimedElsewhere
from tests.billing.conftest import OpenBilling
from tests.billing.mortal import Killed, Mortal
from tests.billing.stage import Stage, event_body, event_of, has_begun, some

pytestmark = pytest.mark.anyio
CHARGES = 3
# claim, invoice, two queries, reservation; a slot and a call for each charge and the close; finish
STEPS = 5 + 2 * (CHARGES + 1) + 1


def _prepared(stage: Stage, **invoice: Any) -> dict[str, Any]:
    body = event_body(**invoice)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(CHARGES))
    return body


async def _attempt(billing: OpenBilling, owner: str, body: dict[str, Any], at: int | None, after: bool) -> str | None:
    """Returns the outcome, or None if the worker was killed."""
    async with billing(owner) as worker:
        return await _attempt_by(worker, body, at, after)


async def _attempt_by(worker: Billing, body: dict[str, Any], at: int | None, after: bool) -> str | None:
    with pytest.MonkeyPatch.context() as patch:
        Mortal(worker, patch, at, after)
        try:
            return await worker.process(event_of(body))
        except Killed:
            return None


async def test_a_first_attempt_takes_as_few_calls_as_it_needs(stage: Stage, billing: OpenBilling) -> None:
    """An event takes six calls of the table, and one for each call of Chargebee's if the calls do not wait."""
    body = _prepared(stage)
    async with billing() as worker:
        with pytest.MonkeyPatch.context() as patch:
            mortal = Mortal(worker, patch)
            assert await worker.process(event_of(body)) == "closed"
    assert mortal.made == [
        *("UpdateItem", "UpdateItem", "Query", "Query", "TransactWriteItems"),
        *("UpdateItem", "POST") * (CHARGES + 1),
        "TransactWriteItems",
    ]
    assert len(mortal.made) == STEPS


@pytest.mark.parametrize("after", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["before", "after"])
@pytest.mark.parametrize("step", range(STEPS))
async def test_a_kill_at_any_step_charges_everything_once(
    stage: Stage, billing: OpenBilling, step: int, after: bool
) -> None:
    """The lease keeps the next worker away. After the lease's end, the next worker finishes."""
    stage.behave(idempotency_seconds=1e-6, renumber=True)
    body = _prepared(stage)
    assert await _attempt(billing, "killed", body, step, after) is None
    done = step == STEPS - 1 and after
    claimed = not (step == 0 and not after)
    async with billing("next") as worker:
        if claimed and not done:
            with pytest.raises(ClaimedElsewhere) as waiting:
                await worker.process(event_of(body))
            assert 0 < (waiting.value.retry_after or 0) <= 65
        stage.end_leases(body)
        assert await worker.process(event_of(body)) == ("already" if done else "closed")
    stage.require_billed_once(body, some(CHARGES))


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kills=st.lists(st.tuples(st.integers(0, STEPS + 4), st.booleans()), min_size=2, max_size=5))
def test_any_number_of_kills_charges_everything_once(
    stage: Stage, billing: OpenBilling, kills: list[tuple[int, bool]]
) -> None:
    """The attempts that finish the work of others may be killed as well."""
    stage.behave(idempotency_seconds=1e-6, renumber=True)
    body = _prepared(stage)

    async def run() -> None:
        async with billing() as worker:  # each attempt is an owner of its own
            for step, after in kills:
                await _attempt_by(worker, body, step, after)
                stage.end_leases(body)
            await _attempt_by(worker, body, None, False)

    asyncio.run(run())
    stage.require_billed_once(body, some(CHARGES))


async def test_a_cancelled_worker_lets_go_at_once(stage: Stage, billing: OpenBilling) -> None:
    """A worker whose time for stopping is over releases its claim.

    Chargebee still executes the worker's last call. Meanwhile, the invoice is locked for the next worker.
    """
    stage.behave(latency=2)
    body = _prepared(stage)
    async with billing("stopped") as worker:
        processing = asyncio.create_task(worker.process(event_of(body)))
        await has_begun(worker)
        processing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await processing
    stage.behave(latency=0)
    assert stage.claim(body["id"])["code"] == {"S": "cancelled"}
    codes = set()
    async with billing("next") as worker:
        while True:
            try:
                assert await worker.process(event_of(body)) == "closed"
                break
            except ChargebeeUnavailable as locked:
                codes.add(locked.code)
    assert codes <= {"lock_timeout", "invalid_state"}
    stage.require_billed_once(body, some(CHARGES))
