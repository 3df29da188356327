"""The claim of an event and the lease of its invoice, on the table."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.billing import term
from app.billing.dynamodb import Table, open_table
from app.billing.items import claim_key, invoice_key, number, typed
from app.billing.leases import AlreadyDone, Lease, Superseded
from app.billing.processing import keep_leased
from app.clock import now_ms
from app.errors import ClaimedElsewhere, TableUnavailable
from tests.billing.stage import Stage

pytestmark = pytest.mark.anyio
SECONDS = 60.0


@pytest.fixture
async def table(stage: Stage) -> AsyncIterator[Table]:
    async with open_table(stage.table, 20, stage.calls.append) as opened:
        yield opened


def _lease(table: Table, owner: str = "worker", event_id: str = "ev_1", seconds: float = SECONDS) -> Lease:
    return Lease(table, event_id, owner, seconds)


async def test_a_claim_keeps_others_away_until_it_has_ended(
    table: Table, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other claims, even by the same process, wait for a twelfth of the lease after its end, because clocks differ."""
    await _lease(table).claim()
    now = now_ms()
    monkeypatch.setattr(term, "now_ms", lambda: now)
    for ago, free in ((-1.0, False), (SECONDS / 12 - 0.5, False), (SECONDS / 12 + 0.5, True)):
        stage.set(claim_key("ev_1"), "lease_until", {"N": str(now - round(1000 * ago))})
        if not free:
            with pytest.raises(ClaimedElsewhere):
                await _lease(table).claim()
    await _lease(table).claim()
    assert number(stage.claim("ev_1"), "attempts") == 2


async def test_of_many_claims_at_once_one_succeeds(table: Table) -> None:
    """The other claims fail with the rest of the lease as the time to retry."""
    results = await asyncio.gather(*(_lease(table).claim() for _ in range(20)), return_exceptions=True)
    refused = [result for result in results if isinstance(result, ClaimedElsewhere)]
    assert len(refused) == 19
    assert all(0 < (one.retry_after or 0) <= 65 for one in refused)


async def test_a_claim_whose_answer_was_lost_is_known_again(table: Table) -> None:
    """botocore repeats the call, and the attempt finds its own token."""
    lease = _lease(table)
    await lease.claim()
    await lease.claim()
    await lease.take_invoice("inv_1", 1)
    await lease.take_invoice("inv_1", 1)
    await lease.finish("closed", 1)
    await lease.finish("closed", 1)


async def test_a_done_event_stays_done(table: Table, stage: Stage) -> None:
    """A late owner finds that it has lost the claim."""
    late = _lease(table)
    await late.claim()
    stage.set(claim_key("ev_1"), "lease_until", {"N": "1"})
    next_one = _lease(table)
    await next_one.claim()
    with pytest.raises(ClaimedElsewhere):
        await late.finish("closed")
    await late.release("late")  # changes nothing
    await next_one.finish("closed")
    with pytest.raises(AlreadyDone):
        await _lease(table).claim()
    with pytest.raises(ClaimedElsewhere):
        await late.finish("closed")


async def test_an_invoice_is_held_by_one_event(table: Table, stage: Stage) -> None:
    """Another event of the invoice waits, and an unanswered call keeps it waiting; the same event may continue.

    An attempt that continues, and fails before its first call, leaves the invoice leased as well.
    """
    first, other = _lease(table), _lease(table, event_id="ev_2")
    await first.claim()
    await first.take_invoice("inv_1", 5)
    await other.claim()
    with pytest.raises(ClaimedElsewhere):
        await other.take_invoice("inv_1", 6)
    first.asked.miss_answer()
    await first.release("ReadTimeoutError")
    with pytest.raises(ClaimedElsewhere):
        await other.take_invoice("inv_1", 6)
    again = _lease(table)
    await again.claim()
    await again.take_invoice("inv_1", 5)
    await again.release("code")
    with pytest.raises(ClaimedElsewhere):
        await other.take_invoice("inv_1", 6)
    stage.set(invoice_key("inv_1"), "lease_until", {"N": "1"})
    await other.take_invoice("inv_1", 6)
    await other.finish("closed", 6)
    last = _lease(table, event_id="ev_3")
    await last.claim()
    with pytest.raises(Superseded):
        await last.take_invoice("inv_1", 5)
    await last.take_invoice("inv_1", None)  # an event without a version has no order


async def test_a_call_gets_no_more_time_than_the_lease_has_left(table: Table, stage: Stage) -> None:
    """A short lease is renewed first; a lease that cannot be renewed is lost."""
    lease = _lease(table)
    await lease.claim()
    await lease.take_invoice("inv_1", 1)
    assert await lease.allowance(SECONDS / 2) == SECONDS / 2
    assert "TransactWriteItems" not in stage.tries("DynamoDB")
    assert SECONDS - 10 < await lease.allowance(2 * SECONDS) <= SECONDS
    assert stage.tries("DynamoDB")["TransactWriteItems"] == 1
    stage.set(invoice_key("inv_1"), "owner", typed("another"))
    with pytest.raises(ClaimedElsewhere):
        await lease.allowance(2 * SECONDS)
    with pytest.raises(ClaimedElsewhere):
        await lease.allowance(5)
    assert lease.remaining < 0


@pytest.mark.slow
async def test_a_lease_that_cannot_be_renewed_is_lost_when_it_ends(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the lease ends, the worker repeats the renewal while the table cannot be reached."""
    lease = _lease(table, seconds=6)
    await lease.claim()
    tries = 0

    async def down(updates: object) -> None:
        nonlocal tries
        tries += 1
        raise TableUnavailable("down", "EndpointConnectionError")

    monkeypatch.setattr(table, "write", down)
    with pytest.raises(ClaimedElsewhere):
        await keep_leased(lease)
    assert tries > 1
