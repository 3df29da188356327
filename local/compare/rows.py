"""Groups a timeline's rows for display. All times are in seconds after the first webhook was sent."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from local.compare.recording import Recording
from local.compare.state_spans import StateSpan, TimelineRow
from local.compare.states import State

# The highest number of threads that are shown, because more threads would only show the same again.
MOST_THREADS = 12


class Group(NamedTuple):
    """Rows of one kind. `left_out` is the number of rows that are not shown.

    `labels` has a label for each row, or is empty if the group has only a title.
    """

    title: str
    rows: list[list[StateSpan]]
    left_out: int = 0
    labels: tuple[str, ...] = ()


def groups(recorded: Recording) -> Iterator[Group]:
    """Yields a group for the event loop, for the webhooks, for the threads, and for the batch calls to SQS.

    Threads that were always idle are left out. There is no group of threads or of calls if it would be empty.
    """
    kinds: dict[str, list[TimelineRow]] = {"loop": [], "thread": [], "call": []}
    for row in recorded.rows:
        kinds.setdefault(row.kind, []).append(row)
    yield Group("event loop", [_cut(row.spans, recorded) for row in kinds["loop"]])
    yield Group("webhooks", [_cut(spans, recorded) for spans in _webhooks(recorded)])
    threads = [spans for row in kinds["thread"] if _busy(spans := _cut(row.spans, recorded))]
    threads.sort(key=lambda spans: next(span.began for span in spans if span.state != State.IDLE))
    if threads:
        yield Group("threads", threads[:MOST_THREADS], len(threads[MOST_THREADS:]))
    if kinds["call"]:
        labels = tuple(row.name for row in kinds["call"])
        yield Group("calls to SQS", [_cut(row.spans, recorded) for row in kinds["call"]], labels=labels)


def total(spans: Iterable[StateSpan], *states: State) -> float:
    """Returns how many seconds the spans with one of `states` take together."""
    return sum(span.ended - span.began for span in spans if span.state in states)


def _webhooks(recorded: Recording) -> Iterator[list[StateSpan]]:
    """Yields the spans of each webhook, in the order of the responses.

    From the time when the webhook was sent to its first recorded sample, the webhook waits for its turn.
    """
    found = {row.name: row.spans for row in recorded.rows if row.kind == "webhook"}
    for one in sorted(recorded.sent, key=lambda one: one.ended):
        spans = found.get(one.event_id, [])
        yield [StateSpan(one.began, spans[0].began if spans else one.ended, State.TURN), *spans]


def _cut(spans: list[StateSpan], recorded: Recording) -> list[StateSpan]:
    """Returns the spans, cut to the time from the first webhook to the last response.

    The returned times are in seconds after the first webhook was sent.
    """
    began, ended = recorded.began, recorded.began + recorded.seconds
    cut = [StateSpan(max(span.began, began) - began, min(span.ended, ended) - began, span.state) for span in spans]
    return [span for span in cut if span.ended > span.began]


def _busy(spans: list[StateSpan]) -> bool:
    return any(span.state != State.IDLE for span in spans)
