"""The API's operations and their calls, against the stand-in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.billing import api_calls, leases, rate, slots
from app.billing.answers import InvalidState
from app.billing.charges import Billable
from app.billing.leases import Lease
from app.clock import monotonic, now_ms
from app.errors import BillingFailed, ChargebeeUnavailable
from tests.billing.conftest import OpenBilling
from tests.billing.stage import START, Stage, event_body, line

pytestmark = pytest.mark.anyio


async def test_events_are_listed_over_all_pages(stage: Stage, billing: OpenBilling) -> None:
    """The filters are those that `reconcile` needs; the oldest event comes first."""
    at = START + 777
    bodies = [event_body() | {"occurred_at": at + number} for number in range(230)]
    stage.register(*bodies)
    async with billing() as worker:
        filters = {
            "event_type[is]": "pending_invoice_created",
            "occurred_at[between]": f"[{at},{at + 1000}]",
            "sort_by[asc]": "occurred_at",
        }
        found = [event["id"] async for page in worker.chargebee.list_events(**filters) for event in page]
        assert stage.tries("Chargebee")["list_events"] == 3
    assert found == [body["id"] for body in bodies]


async def test_an_invoice_has_the_lines_of_all_pages(stage: Stage, billing: OpenBilling) -> None:
    """`retrieve` reads all pages, each with a call that is counted, and returns the line items in their order."""
    body = event_body(line_items=[line(number) for number in range(250)])
    stage.register(body)
    async with billing() as worker:
        lease = Lease(worker.table, body["id"], "worker", 60)
        await lease.claim()
        found = await worker.chargebee.retrieve(lease, body["content"]["invoice"]["id"])
        assert [one.description for one in found.line_items] == [f"Terminal licence {n}" for n in range(250)]
        assert found.is_pending
        assert stage.tries("Chargebee") == {"retrieve": 3}


async def test_ids_with_odd_characters_stay_within_their_segment(stage: Stage, billing: OpenBilling) -> None:
    """An id is quoted, so that it never changes the path."""
    body = event_body(id="draft inv?x=%2F&ü")
    stage.register(body)
    async with billing() as worker:
        lease = Lease(worker.table, body["id"], "worker", 60)
        await lease.claim()
        found = await worker.chargebee.retrieve(lease, "draft inv?x=%2F&ü")
        assert found.id == "draft inv?x=%2F&ü"


async def test_a_slow_call_is_cut_off_and_repeated_with_its_key(stage: Stage, billing: OpenBilling) -> None:
    """Chargebee may still have executed the call, so the lease notes that its answer is missing."""
    body = event_body()
    stage.register(body)
    stage.behave(latency=1.5)
    async with billing(chargebee_timeout=0.3) as worker:
        lease = Lease(worker.table, body["id"], "worker", 60)
        await lease.claim()
        with pytest.raises(InvalidState):  # the first try is still at work
            await worker.chargebee.add_charge(lease, body["content"]["invoice"]["id"], Billable("b1", 5, "Usage", 1))
        assert stage.tries("Chargebee")["add_charge"] == 2
        assert lease.asked.unanswered
    stage.behave(latency=0)


@asynccontextmanager
async def answering(*answers: tuple[int, str]) -> AsyncIterator[str]:
    """Yields the URL of a server that sends these answers one after the other, each on a connection of its own."""
    left = iter(answers)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        status, body = next(left)
        head = f"HTTP/1.1 {status} \r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(f"{head}{body}".encode())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("last", "unanswered"),
    [
        ((502, ""), True),
        ((400, '{"api_error_code": "lock_timeout"}'), True),
        ((429, '{"api_error_code": "lock_timeout"}'), True),
        ((409, '{"api_error_code": "other"}'), True),
        ((404, "<html>"), True),
        ((200, "<html>"), True),
        ((200, "{}"), True),
        ((409, '{"api_error_code": "invalid_state_for_request"}'), True),
        ((400, '{"api_error_code": "param_wrong_value"}'), False),
    ],
)
async def test_which_answers_settle_an_earlier_try(
    stage: Stage, billing: OpenBilling, last: tuple[int, str], unanswered: bool
) -> None:
    """After a gateway's error, Chargebee may still execute the first try, unless an answer gives the call's result."""
    async with answering((502, ""), last, last) as url, billing(chargebee_url=url) as worker:
        lease = Lease(worker.table, event_body()["id"], "worker", 60)
        await lease.claim()
        with pytest.raises((InvalidState, BillingFailed)):
            await worker.chargebee.close(lease, "inv_1", "cus_1")
        assert lease.asked.unanswered is unanswered


@pytest.mark.parametrize("body", ["<html>", "{}"])
async def test_a_gateways_200_is_no_answer(stage: Stage, billing: OpenBilling, body: str) -> None:
    """Chargebee may still execute a call if a gateway answers 200 with something else than the invoice."""
    answers = [(200, body)] * 3
    async with answering(*answers) as url, billing(chargebee_url=url) as worker:
        lease = Lease(worker.table, event_body()["id"], "worker", 60)
        await lease.claim()
        with pytest.raises(BillingFailed):
            await worker.chargebee.close(lease, "inv_1", "cus_1")
        assert lease.asked.unanswered


async def test_repetitions_end_within_a_lease(stage: Stage, billing: OpenBilling) -> None:
    """The attempts end within one lease, because an idempotency key must outlive them."""
    body = event_body()
    stage.behave(latency=5)
    async with billing(chargebee_timeout=0.9, billing_lease=1) as worker:
        lease = Lease(worker.table, body["id"], "worker", 60)
        await lease.claim()
        with pytest.raises(ChargebeeUnavailable):
            await worker.chargebee.close(lease, body["content"]["invoice"]["id"], "cus_1")
        assert stage.tries("Chargebee")["close"] == 1
    stage.behave(latency=0)


async def test_no_repetition_after_a_halt(stage: Stage, billing: OpenBilling, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 40 minutes, Chargebee has forgotten the idempotency key of the first try."""
    halt = 0.0

    def halted(*_: float) -> float:
        nonlocal halt
        halt = 2400.0
        return 0.0

    async with answering((502, ""), (200, "{}")) as url, billing(chargebee_url=url) as worker:
        lease = Lease(worker.table, event_body()["id"], "worker", 60)
        await lease.claim()
        monkeypatch.setattr(api_calls, "uniform", halted)  # of the pause before the next try
        for module in (api_calls, leases, rate, slots):
            monkeypatch.setattr(module, "monotonic", lambda: monotonic() + halt, raising=False)
            monkeypatch.setattr(module, "now_ms", lambda: now_ms() + round(1000 * halt), raising=False)
        with pytest.raises(ChargebeeUnavailable):
            await worker.chargebee.close(lease, "inv_1", "cus_1")
        assert stage.tries("Chargebee")["close"] == 1
