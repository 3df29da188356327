"""Reads a timeline that a service has recorded (`profiles.instruments.timeline`).

A timeline contains the stacks of threads and tasks at many times. This module converts the stacks to spans of time,
each with one state such as "waiting for SQS".
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from local.compare.compared_states import state_of
from profiles.instruments.functions import State


class StateSpan(NamedTuple):
    """A span of time in which a thread or task had one state.

    The times are in seconds of the monotonic clock, which all processes of a machine share.
    """

    began: float
    ended: float
    state: State


class TimelineRow(NamedTuple):
    """A row of the timeline: the spans of the event loop, a thread, a webhook, or a batch call to SQS.

    `kind` is loop, thread, webhook or call. The `name` of a webhook's row is the event's id, or "" if the service has
    not read the id.
    """

    kind: str
    name: str
    spans: list[StateSpan]


def read(file: Path) -> list[TimelineRow]:
    """Returns the rows of the timeline in `file`, in the order in which they began."""
    found = json.loads(file.read_text(encoding="utf-8"))
    states = [state_of(line, functions) for line, functions in found["stacks"]]
    return [
        TimelineRow(kind, name, merged(StateSpan(began, ended, states[stack]) for began, ended, stack in spans))
        for kind, name, spans in found["rows"]
    ]


def merged(spans: Iterable[StateSpan]) -> list[StateSpan]:
    """Returns `spans`, but joins adjacent spans that have the same state."""
    found: list[StateSpan] = []
    for span in spans:
        if found and (found[-1].ended, found[-1].state) == (span.began, span.state):
            found[-1] = found[-1]._replace(ended=span.ended)
        else:
            found.append(span)
    return found
