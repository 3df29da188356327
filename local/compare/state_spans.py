"""Reads a recorded timeline (APP_TIMELINE) as the time spans that each thread and task spent in a state."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from local.compare.states import State, state_of


class StateSpan(NamedTuple):
    """The time in one state, in seconds of the monotonic clock, which all processes of a machine share."""

    began: float
    ended: float
    state: State


class TimelineRow(NamedTuple):
    """`kind`: loop, thread, webhook or call. A webhook's `name` is the event id, if it was read in time."""

    kind: str
    name: str
    spans: list[StateSpan]


def read(file: Path) -> list[TimelineRow]:
    """Returns the rows of `file`, the earliest first."""
    found = json.loads(file.read_text())
    states = [state_of(line, functions) for line, functions in found["stacks"]]
    return [
        TimelineRow(kind, name, merged(StateSpan(began, ended, states[stack]) for began, ended, stack in spans))
        for kind, name, spans in found["rows"]
    ]


def merged(spans: Iterable[StateSpan]) -> list[StateSpan]:
    """Returns `spans`, with adjacent spans of the same state joined."""
    found: list[StateSpan] = []
    for span in spans:
        if found and (found[-1].ended, found[-1].state) == (span.began, span.state):
            found[-1] = found[-1]._replace(ended=span.ended)
        else:
            found.append(span)
    return found
