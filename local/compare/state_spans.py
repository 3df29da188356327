"""A timeline that a process has recorded (APP_TIMELINE), as states: from when to when something was in each."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from local.compare.states import State, state_of


class StateSpan(NamedTuple):
    """Seconds of the monotonic clock, which all processes of a machine share."""

    began: float
    ended: float
    state: State


class TimelineRow(NamedTuple):
    """`kind`: loop, thread, webhook or call. A webhook's name is its event id, as far as that was read."""

    kind: str
    name: str
    spans: list[StateSpan]


def read(file: Path) -> list[TimelineRow]:
    """The rows of `file`, the earliest first."""
    found = json.loads(file.read_text())
    states = [state_of(line, functions) for line, functions in found["stacks"]]
    return [
        TimelineRow(kind, name, merged(StateSpan(began, ended, states[stack]) for began, ended, stack in spans))
        for kind, name, spans in found["rows"]
    ]


def merged(spans: Iterable[StateSpan]) -> list[StateSpan]:
    """Returns `spans`, where those that follow each other in one state are one."""
    found: list[StateSpan] = []
    for span in spans:
        if found and (found[-1].ended, found[-1].state) == (span.began, span.state):
            found[-1] = found[-1]._replace(ended=span.ended)
        else:
            found.append(span)
    return found
