"""Tests the filters, order and pages of List Events."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from local.chargebee.list_events import Events


def event(number: int, occurred_at: int, event_type: str = "pending_invoice_created") -> dict[str, Any]:
    return {"id": f"ev_{number}", "occurred_at": occurred_at, "event_type": event_type, "source": "api", "content": {}}


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
