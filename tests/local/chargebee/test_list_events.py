"""Tests the filters, order and pages of List Events."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.chargebee.list_events import Events
from tests.local.chargebee.in_process import EVENTS, StandIn, code


def event(number: int, occurred_at: int, event_type: str = "pending_invoice_created") -> dict[str, Any]:
    return {"id": f"ev_{number}", "occurred_at": occurred_at, "event_type": event_type, "source": "api", "content": {}}


@pytest.fixture
def stand_in() -> StandIn:
    made = StandIn()
    types = ["pending_invoice_created", "invoice_updated", "customer_changed"]
    made.register(*({"event": event(number, 1000 + 10 * number, types[number % 3])} for number in range(9)))
    return made


def ids(stand_in: StandIn, **params: object) -> list[str]:
    answer = stand_in.events(**{"sort_by[asc]": "occurred_at", "limit": 100, **params})
    assert answer.status_code == 200, answer.text
    return [entry["event"]["id"] for entry in answer.json()["list"]]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, "012345678"),
        ({"event_type[is]": "invoice_updated"}, "147"),
        ({"event_type[in]": '["invoice_updated","customer_changed"]'}, "124578"),
        ({"event_type[in]": "['invoice_updated']"}, "147"),
        ({"event_type[not_in]": '["invoice_updated"]'}, "023568"),
        ({"event_type[is_not]": "invoice_updated"}, "023568"),
        ({"occurred_at[after]": 1060}, "78"),
        ({"occurred_at[before]": 1020}, "01"),
        ({"occurred_at[between]": "[1020,1040]"}, "234"),
        ({"occurred_at[on]": 86_000}, "012345678"),
        ({"id[is]": "ev_3", "source[is]": "api"}, "3"),
        ({"occurred_at[after]": 1010, "event_type[is]": "pending_invoice_created"}, "36"),
    ],
)
def test_filters(stand_in: StandIn, params: dict[str, object], expected: str) -> None:
    """Filters have Chargebee's names; lists may have the form that the Python SDK sends."""
    assert ids(stand_in, **params) == [f"ev_{number}" for number in expected]


def test_the_newest_first(stand_in: StandIn) -> None:
    """The default is the ten newest events."""
    stand_in.register(*({"event": event(100 + number, 5000 + number)} for number in range(10)))
    answer = stand_in.events().json()
    assert [entry["event"]["id"] for entry in answer["list"]] == [f"ev_{109 - number}" for number in range(10)]
    rest = stand_in.events(offset=answer["next_offset"], limit=100).json()
    assert [entry["event"]["id"] for entry in rest["list"]] == [f"ev_{8 - number}" for number in range(9)]
    assert "next_offset" not in rest


@pytest.mark.parametrize(
    "params",
    [
        {"limit": 0},
        {"limit": 101},
        {"offset": "5"},
        {"offset": '["x","ev_1"]'},
        {"offset": '["²","ev_1"]'},
        {"event_type[like]": "x"},
        {"event_type[in]": "invoice_updated"},
        {"occurred_at[between]": "[1]"},
        {"occurred_at[after]": "today"},
        {"occurred_at[after]": ""},
        {"occurred_at[around]": "1"},
        {"color[is]": "red"},
    ],
)
def test_what_is_no_filter(stand_in: StandIn, params: dict[str, object]) -> None:
    """The answer is 400."""
    assert code(stand_in.events(**params)) == (400, "param_wrong_value")


def test_an_event_as_it_was_sent() -> None:
    """An event is listed with its content, and once even if it was registered twice."""
    stand_in = StandIn()
    assert stand_in.register({"event": EVENTS[0]}).json()["new"] == [EVENTS[0]["content"]["invoice"]["id"]]
    assert stand_in.register({"event": EVENTS[0]}).json() == {"invoices": 1, "new": []}
    assert stand_in.events().json()["list"] == [{"event": EVENTS[0]}]


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 7), st.booleans())
def test_pages_hold_every_event_once(times: list[int], limit: int, ascending: bool) -> None:
    """Pages are complete even if many events have the same time, or a new event arrives meanwhile."""
    events = Events()
    for number, time in enumerate(times):
        events.add(event(number, time))
    params = {"limit": str(limit)} | ({"sort_by[asc]": "occurred_at"} if ascending else {})
    seen: list[str] = []
    while True:
        page = orjson.loads(events.page(params))
        seen += [entry["event"]["id"] for entry in page["list"]]
        if "next_offset" not in page:
            break
        params["offset"] = page["next_offset"]
        events.add(event(1000, -1 if ascending else 6))  # before the first page
    wanted = sorted(range(len(times)), key=lambda number: (times[number], f"ev_{number}"), reverse=not ascending)
    assert seen == [f"ev_{number}" for number in wanted]
