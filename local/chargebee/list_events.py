"""Implements Chargebee's operation List Events: https://apidocs.chargebee.com/docs/api/events/list-events."""

import re
from bisect import insort
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from local.chargebee.api_errors import wrong_value
from local.chargebee.params import matches, number, offset, several

_FILTER = re.compile(r"(id|event_type|source|webhook_status|occurred_at)\[(\w+)\]")
_OTHERS = {"limit", "offset", "sort_by[asc]", "sort_by[desc]", "include_deleted"}


class _StoredEvent(NamedTuple):
    """An event. The order of the fields is the sort order: events are sorted by time, then by id."""

    occurred_at: int
    id: str
    event_type: str
    source: str
    webhook_status: str
    body: bytes


Test = Callable[[_StoredEvent], bool]


class Events:
    """Stores the events of a site, sorted by time."""

    def __init__(self) -> None:
        self._stored: list[_StoredEvent] = []
        self._ids: set[str] = set()

    def add(self, event: dict[str, Any]) -> None:
        """Adds `event`, unless an event with the same id is already stored.

        Raises ApiError if `event` has no `id`, `occurred_at` or `event_type`.
        """
        try:
            stored = _StoredEvent(
                int(event["occurred_at"]),
                str(event["id"]),
                str(event["event_type"]),
                str(event.get("source", "")),
                str(event.get("webhook_status", "")),
                orjson.dumps(event),
            )
        except (KeyError, TypeError, ValueError):
            raise wrong_value("event", "must have id, occurred_at and event_type") from None
        if stored.id not in self._ids:
            self._ids.add(stored.id)
            insort(self._stored, stored)

    def page(self, params: Mapping[str, str]) -> bytes:
        """Returns a page of the events that match the filters in `params`, in the format of Chargebee's API.

        The page is `{"list": [{"event": …}, …], "next_offset": …}`; the last page has no `next_offset`. The newest
        event comes first, or the oldest event if `params` contains `sort_by[asc]`.
        """
        limit = number(params, "limit", 1, 100, 10)
        tests = [_test(name, params) for name in params if name not in _OTHERS]
        ascending = "sort_by[asc]" in params
        if position := offset(params, "offset"):
            tests.append(_behind(position, ascending=ascending))
        found: list[_StoredEvent] = []
        for event in self._stored if ascending else reversed(self._stored):
            if all(test(event) for test in tests):
                if len(found) == limit:
                    return _page(found, more=True)
                found.append(event)
        return _page(found, more=False)


def _page(events: list[_StoredEvent], *, more: bool) -> bytes:
    page: dict[str, Any] = {"list": [{"event": orjson.Fragment(event.body)} for event in events]}
    if more:
        page["next_offset"] = orjson.dumps([str(events[-1].occurred_at), events[-1].id]).decode()
    return orjson.dumps(page)


def _behind(position: list[str], *, ascending: bool) -> Test:
    if not position[0].isdecimal():
        raise wrong_value("offset", "is not the next_offset of an earlier answer")
    last = (int(position[0]), position[1])
    return lambda event: (event[:2] > last) if ascending else (event[:2] < last)


def _test(name: str, params: Mapping[str, str]) -> Test:
    found = _FILTER.fullmatch(name)
    if found is None:
        raise wrong_value(name, "is not a filter of List Events")
    field, operator = found.groups()
    if field == "occurred_at":
        return _time(name, operator, params)
    test = matches(name, operator, params)
    return lambda event: test(getattr(event, field))


def _time(name: str, operator: str, params: Mapping[str, str]) -> Test:
    if operator == "between":
        bounds = several(params, name)
        if len(bounds) != len(("from", "to")) or not all(bound.isdecimal() for bound in bounds):
            raise wrong_value(name, "should be two timestamps, as in [1785535200,1785538800]")
        earliest, latest = (int(bound) for bound in bounds)
        return lambda event: earliest <= event.occurred_at <= latest
    moment = number(params, name, 0, 10**11, None)
    tests: dict[str, Test] = {
        "after": lambda event: event.occurred_at > moment,
        "before": lambda event: event.occurred_at < moment,
        "on": lambda event: event.occurred_at // 86_400 == moment // 86_400,
    }
    if operator not in tests:
        raise wrong_value(name, f"the operator {operator} is not supported")
    return tests[operator]
