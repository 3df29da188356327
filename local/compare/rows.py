"""Groups a timeline's rows for display; times count from the first webhook."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from local.compare.recording import Recording
from local.compare.state_spans import StateSpan, TimelineRow
from local.compare.states import State

# Further threads would only repeat what the first ones show.
MOST_THREADS = 12


class Group(NamedTuple):
    """Rows of one kind. `left_out`: the number of rows that are not shown; `labels`: one for each row, or none."""

    title: str
    rows: list[list[StateSpan]]
    left_out: int = 0
    labels: tuple[str, ...] = ()


def groups(recorded: Recording) -> Iterator[Group]:
    """Yields the event loop, the webhooks, the threads that did anything, and the batch calls; no empty groups."""
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
    """Returns the seconds in any of `states`."""
    return sum(span.ended - span.began for span in spans if span.state in states)


def _webhooks(recorded: Recording) -> Iterator[list[StateSpan]]:
    """Yields the webhooks in the order of their responses. Until its first sample, a webhook waits for its turn."""
    found = {row.name: row.spans for row in recorded.rows if row.kind == "webhook"}
    for one in sorted(recorded.sent, key=lambda one: one.ended):
        spans = found.get(one.event_id, [])
        yield [StateSpan(one.began, spans[0].began if spans else one.ended, State.TURN), *spans]


def _cut(spans: list[StateSpan], recorded: Recording) -> list[StateSpan]:
    """Returns the spans between the first webhook and the last response, in seconds since the first webhook."""
    began, ended = recorded.began, recorded.began + recorded.seconds
    cut = [StateSpan(max(span.began, began) - began, min(span.ended, ended) - began, span.state) for span in spans]
    return [span for span in cut if span.ended > span.began]


def _busy(spans: list[StateSpan]) -> bool:
    return any(span.state != State.IDLE for span in spans)
