"""A viewer without a browser: reads server-sent events."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx

from tests.harness.service import NO_CAS


class Event(NamedTuple):
    """One server-sent event; `kind` is empty for a moment."""

    id: str
    kind: str
    data: str

    @property
    def moment(self) -> dict[str, Any]:
        moment: dict[str, Any] = json.loads(self.data)
        return moment


@contextmanager
def viewing(url: str, last: str | None = None) -> Iterator[Iterator[Event]]:
    """Yields the events of the page at `url`, after the event with the id `last`."""
    headers = {} if last is None else {"Last-Event-ID": last}
    with (
        httpx.Client(verify=NO_CAS, timeout=60) as client,
        client.stream("GET", f"{url}/events", headers=headers) as got,
    ):
        assert got.status_code == 200
        yield _events(got.iter_lines())


def _events(lines: Iterator[str]) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "data" in fields or "event" in fields:
            yield Event(fields.get("id", ""), fields.get("event", ""), fields.get("data", ""))
            fields = {}
