"""Samples merged into spans: from when to when something was in a state."""

import json
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import NamedTuple


class Span(NamedTuple):
    """Seconds of the monotonic clock, which all processes of a machine share."""

    began: float
    ended: float
    state: str


class Row(NamedTuple):
    """`kind`: loop, thread, webhook or call. A webhook's name is its event id, as far as that was read."""

    kind: str
    name: str
    spans: list[Span]


class Spans:
    """Of many rows, sample by sample. A row ends with the first sample that it is missing in."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[float, str]] = {}
        self.closed: dict[Hashable, list[Span]] = {}

    def add(self, now: float, states: Mapping[Hashable, str]) -> None:
        for key, (began, state) in list(self._open.items()):
            if states.get(key) != state:
                self.closed.setdefault(key, []).append(Span(began, now, state))
                del self._open[key]
        for key, state in states.items():
            self._open.setdefault(key, (now, state))


def write(rows: list[Row], file: Path) -> None:
    file.write_text(json.dumps(rows) + "\n")


def read(file: Path) -> list[Row]:
    return [Row(kind, name, [Span(*span) for span in spans]) for kind, name, spans in json.loads(file.read_text())]
