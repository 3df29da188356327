"""Groups a timeline's rows for display. All times are in seconds after the first webhook was sent."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from local.compare.recording import Recording
from local.compare.state_spans import StateSpan, TimelineRow
from profiles.instruments.functions import State

# The maximum number of threads to show. Further threads would look the same.
MOST_THREADS = 12


class Group(NamedTuple):
    """Rows of one kind, such as the webhooks. `left_out` is the number of rows that are not shown.

    `labels` contains a label for each row, or is empty if the group has only a title.
    """

    title: str
    rows: list[list[StateSpan]]
    left_out: int = 0
    labels: tuple[str, ...] = ()


def groups(recorded: Recording) -> Iterator[Group]:
    """Yields up to four groups of rows: the event loop, the webhooks, the threads, and the batch calls to SQS.

    Threads that were always idle are left out. The groups of threads and of batch calls are left out if they are empty.
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
    """Returns the total length, in seconds, of the spans whose state is one of `states`."""
    return sum(span.ended - span.began for span in spans if span.state in states)


def _webhooks(recorded: Recording) -> Iterator[list[StateSpan]]:
    """Yields the spans of each webhook, in the order of the responses.

    The first span begins when the webhook was sent, and ends when the timeline first contains the webhook. This span
    has the state "waiting for its turn", because the service has not begun to handle the webhook.
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
