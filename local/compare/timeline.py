"""A timeline that a process has recorded (APP_TIMELINE), as states: from when to when something was in each."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from local.compare.states import State, state_of


class Span(NamedTuple):
    """Seconds of the monotonic clock, which all processes of a machine share."""

    began: float
    ended: float
    state: State


class Row(NamedTuple):
    """`kind`: loop, thread, webhook or call. A webhook's name is its event id, as far as that was read."""

    kind: str
    name: str
    spans: list[Span]


def read(file: Path) -> list[Row]:
    """The rows of `file`, the earliest first."""
    found = json.loads(file.read_text())
    states = [state_of(line, functions) for line, functions in found["stacks"]]
    return [
        Row(kind, name, merged(Span(began, ended, states[stack]) for began, ended, stack in spans))
        for kind, name, spans in found["rows"]
    ]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Returns `spans`, where those that follow each other in one state are one."""
    found: list[Span] = []
    for span in spans:
        if found and (found[-1].ended, found[-1].state) == (span.began, span.state):
            found[-1] = found[-1]._replace(ended=span.ended)
        else:
            found.append(span)
    return found
