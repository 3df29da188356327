"""What the API answers: charges, closing, pages of line items, errors."""

import asyncio

import httpx
import pytest

from local.chargebee.behaviour import API_KEY, Behaviour
from local.chargebee.server import create_app
from tests.local.chargebee.in_process import EVENTS, START, StandIn, code, invoice


@pytest.fixture
def stand_in() -> StandIn:
    made = StandIn()
    made.register(invoice())
    return made


def test_a_charge_is_a_line_item(stand_in: StandIn) -> None:
    """A charge is the last line item, and the totals include the amount."""
    before = stand_in.retrieve().json()["invoice"]
    after = stand_in.add(amount=250, description="Exports [billable:bl_7@1]").json()["invoice"]
    assert after["line_items"][:-1] == before["line_items"]
    line = after["line_items"][-1]
    assert (line["amount"], line["description"], line["entity_type"]) == (250, "Exports [billable:bl_7@1]", "adhoc")
    assert {name: after[name] - before[name] for name in ("sub_total", "total", "amount_due", "tax")} == {
        "sub_total": 250,
        "total": 250,
        "amount_due": 250,
        "tax": 0,
    }
    assert stand_in.retrieve().json()["invoice"] == after


def test_closing(stand_in: StandIn) -> None:
    """An invoice closes once, and the next number becomes its id. Then it takes no charges."""
    stand_in.time += 5
    closed = stand_in.close().json()["invoice"]
    assert (closed["status"], closed["id"]) == ("payment_due", "1")
    assert code(stand_in.close()) == code(stand_in.add()) == (404, "resource_not_found")
    stand_in.behave(renumber=False)
    stand_in.register(invoice(2))
    assert stand_in.close(2).json()["invoice"]["id"] == "draft_inv_2"
    assert code(stand_in.close(2)) == code(stand_in.add(2)) == (409, "invalid_state_for_request")
    audited = stand_in.audit()["invoices"]
    assert [one["closes"] for one in audited] == [[{"idempotency_key": None, "at": START + 5}]] * 2
    assert [one["charges"] for one in audited] == [[], []]


def test_closing_an_invoice_of_nothing() -> None:
    """An invoice needs a line item; if its total is 0, it is paid at once."""
    stand_in = StandIn()
    stand_in.register(invoice(1, line_items=[]), invoice(2, total=0))
    assert code(stand_in.close(1)) == (400, "invalid_request")
    stand_in.add(1)
    assert stand_in.close(1).status_code == 200
    assert stand_in.close(2).json()["invoice"]["status"] == "paid"


def test_pages_of_line_items() -> None:
    """The webhook's own offset leads to the line items that it left out; charges follow them."""
    stand_in = StandIn()
    truncated = next(event for event in EVENTS if "line_items_next_offset" in event["content"]["invoice"])
    left_out = [{**truncated["content"]["invoice"]["line_items"][0], "id": f"li_{number}"} for number in range(7)]
    stand_in.register({"event": truncated, "more_line_items": left_out})
    path = f"invoices/{truncated['content']['invoice']['id']}"
    first = stand_in.get(path).json()["invoice"]
    assert len(first["line_items"]) == 300
    offset = truncated["content"]["invoice"]["line_items_next_offset"]
    rest = stand_in.get(path, line_items_offset=offset).json()["invoice"]
    assert ([item["id"] for item in rest["line_items"]], "line_items_next_offset" in rest) == (
        [f"li_{number}" for number in range(7)],
        False,
    )
    small, ids = stand_in.get(path, line_items_limit=100).json()["invoice"], []
    while True:
        ids += [item["id"] for item in small["line_items"]]
        if (offset := small.get("line_items_next_offset")) is None:
            break
        small = stand_in.get(path, line_items_limit=100, line_items_offset=offset).json()["invoice"]
    assert ids == [item["id"] for item in first["line_items"] + left_out]
    assert code(stand_in.get(path, line_items_offset="x")) == (400, "param_wrong_value")
    assert code(stand_in.get(path, line_items_limit=301)) == (400, "param_wrong_value")


@pytest.mark.parametrize("auth", [("", ""), ("other", ""), (API_KEY + "x", "")])
def test_a_wrong_key(stand_in: StandIn, auth: tuple[str, str]) -> None:
    """A wrong key gets 401, and does not count towards the limit."""
    answer = stand_in.get("invoices/draft_inv_1", auth=auth)
    assert code(answer) == (401, "api_authentication_failed")
    assert stand_in.audit()["most_calls_in_60s"] == 0


def test_one_request_on_an_invoice_at_a_time() -> None:
    """One of two simultaneous changes gets lock_timeout; reading and other invoices are not affected."""

    async def race() -> tuple[httpx.Response, ...]:
        app = create_app(Behaviour(latency=0.2))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", auth=(API_KEY, "")
        ) as http:
            await http.put("/_/invoices", json=[invoice(1), invoice(2)])
            charge = {"amount": 1, "description": "x"}
            return await asyncio.gather(
                http.post("/api/v2/invoices/draft_inv_1/add_charge", data=charge),
                http.post("/api/v2/invoices/draft_inv_1/close"),
                http.post("/api/v2/invoices/draft_inv_2/add_charge", data=charge),
                http.get("/api/v2/invoices/draft_inv_1"),
            )

    first, second, other, read = asyncio.run(race())
    assert (first.status_code, other.status_code, read.status_code) == (200, 200, 200)
    assert code(second) == (429, "lock_timeout")
    assert "Retry-After" not in second.headers


def test_a_repetition_while_the_first_try_is_at_work() -> None:
    """A request with the idempotency key of one that is still at work gets 409. Later, it gets the answer."""

    async def race() -> tuple[httpx.Response, httpx.Response, httpx.Response]:
        app = create_app(Behaviour(latency=0.2))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", auth=(API_KEY, "")
        ) as http:
            await http.put("/_/invoices", json=[invoice(1)])

            async def add() -> httpx.Response:
                charge = {"amount": 1, "description": "x"}
                headers = {"chargebee-idempotency-key": "k"}
                return await http.post("/api/v2/invoices/draft_inv_1/add_charge", data=charge, headers=headers)

            first, second = await asyncio.gather(add(), add())
            return first, second, await add()

    first, second, later = asyncio.run(race())
    assert code(second) == (409, "invalid_state_for_request")
    assert first.json() == later.json()
