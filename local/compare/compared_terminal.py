"""Draws a timeline as rows of letters.

Each column stands for the same length of time, and shows the letter of the state that took most of this time.
"""

from collections.abc import Iterator
from typing import NamedTuple

from local.compare.compared_rows import Group, groups, total
from local.compare.recording import Recording
from local.compare.state_spans import StateSpan
from local.compare.styles import STYLES
from profiles.instruments.functions import State

LABEL = 14
NOT_YET = " "
_BLOCKING = frozenset({State.SQS, State.TABLE, State.CHARGEBEE, State.CONNECTING, State.CAS, State.CLIENT})


class TextRow(NamedTuple):
    """A row's label, and the state to show in each column. The state is None if the row has no span at that time."""

    label: str
    states: list[State | None]


def lines(recorded: Recording, seconds: float, columns: int) -> Iterator[TextRow]:
    """Yields the rows of all groups. Each row has `columns` columns, which together stand for `seconds`."""
    for group in groups(recorded):
        for number, spans in enumerate(group.rows):
            label = group.labels[number] if group.labels else group.title if number == 0 else ""
            yield TextRow(label, _columns(spans, seconds / columns, columns))
        if group.left_out:
            yield TextRow(f"… {group.left_out} more", [])


def summary(recorded: Recording) -> str:
    """Returns a line with the number of responses by status, and the time from the first webhook to the last response.

    If the event loop was blocked, or CA certificates were loaded, the line also says for how long.
    """
    answers = ", ".join(f"{status or 'no answer'}: {number}" for status, number in sorted(recorded.statuses.items()))
    loop: Group = next(groups(recorded))
    spans = [span for row in loop.rows for span in row]
    blocked = [span for span in spans if span.state in _BLOCKING]
    parts = [f"{answers} in {recorded.seconds:.2f} s"]
    if blocked:
        parts.append(f"event loop blocked for {total(blocked, *State):.2f} s")
    if cas := sum(total(row, State.CAS) for group in groups(recorded) for row in group.rows):
        parts.append(f"loading CAs {cas:.2f} s")
    return "; ".join(parts)


def legend(shown: set[State]) -> Iterator[tuple[State, str]]:
    """Yields each state of `shown` with its entry in the legend: the state's letter and name."""
    for state, style in STYLES.items():
        if state in shown:
            yield state, f"{style.letter} {state.value}"


def _columns(spans: list[StateSpan], width: float, columns: int) -> list[State | None]:
    return [_longest(spans, number * width, (number + 1) * width) for number in range(columns)]


def _longest(spans: list[StateSpan], began: float, ended: float) -> State | None:
    inside = {span.state: 0.0 for span in spans if span.began < ended and span.ended > began}
    for span in spans:
        if span.state in inside:
            inside[span.state] += max(0.0, min(span.ended, ended) - max(span.began, began))
    return State(max(inside, key=lambda state: inside[state])) if inside else None
