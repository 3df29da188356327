"""Compares Chargebee's events with the processed events, and enqueues the missing events.

`python -m app reconcile` recovers lost events in this way. An event is lost if the service rejected its webhook until
Chargebee gave up (after 3 days 7 hours). It is also lost if the queue's retention period ended before a worker
processed the message. If an event is enqueued twice, its claim in DynamoDB ensures that the work is done only once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from app.errors import BillingFailed, InvalidEvent, QueueUnavailable
from app.events import EventId, UnwantedEvent, parse_event
from app.sqs.message import Message, to_message
from app.sqs.queue import batch_refused
from app.worker.retry import pause

ATTEMPTS = 5
LONGEST_PAUSE_SECONDS = 10.0
# The comparison ends if SQS refuses this many events in a row and the events themselves are not the cause, because SQS
# would then refuse the remaining events as well.
OUTAGE = 3
KnownOf = Callable[[Iterable[str]], Awaitable[tuple[set[str], Mapping[str, str]]]]
"""Returns the ids of the given events that are done, and the error codes of the events with a dead letter, by id."""
Send = Callable[[Message], Awaitable[None]]
Page = Sequence[Mapping[str, Any]]
_EVENT_ID: TypeAdapter[str] = TypeAdapter(EventId)


@dataclass
class Summary:
    """The result of a comparison. `seen`: the number of events at Chargebee.

    `missing`: the ids of the events that were enqueued (in a dry run: that would be enqueued). `judged`: the error code
    of each event that has a dead letter, by the event's id. `failed`: the reason for each event that could not be
    enqueued; the key is the event's id, or a description of the event if the id is not valid. `error`: what ended the
    comparison early, or None.
    """

    seen: int = 0
    missing: list[str] = field(default_factory=list)
    judged: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    error: BillingFailed | QueueUnavailable | None = None


def filters(wanted: frozenset[str], since: int, until: int) -> dict[str, str]:
    """Returns the query parameters of List Events. `since` and `until` are in unix seconds.

    https://apidocs.chargebee.com/docs/api/events/list-events
    """
    return {
        "event_type[in]": orjson.dumps(sorted(wanted)).decode(),
        "occurred_at[between]": orjson.dumps([str(since), str(until)]).decode(),
        "sort_by[asc]": "occurred_at",
    }


class Comparison:
    """Enqueues missing events, or only counts them if `send` is None. `summary` is the result so far."""

    def __init__(self, send: Send | None, wanted: frozenset[str], *, fifo: bool) -> None:
        self.summary = Summary()
        self._send, self._wanted, self._fifo = send, wanted, fifo
        self._refused = 0  # how many events in a row SQS has refused

    async def run(self, pages: AsyncIterator[Page], known_of: KnownOf, progress: Callable[[int], None]) -> Summary:
        """Compares the events of all `pages` with the events that `known_of` returns, and enqueues the missing events.

        The pages are sorted by time. An event that ended in a dead letter does not count as missing. If an event cannot
        be enqueued, the comparison continues with the next event. `progress` receives the unix seconds of the last
        event of each page.
        """
        try:
            async for page in pages:
                named = self._named(page)
                done, judged = await known_of(named)
                self.summary.judged |= judged
                for event_id in [one for one in named if one not in done and one not in judged]:
                    await self._enqueue(event_id, named[event_id])
                if page and isinstance(at := page[-1].get("occurred_at"), int):
                    progress(at)
        except (BillingFailed, QueueUnavailable) as error:
            self.summary.error = error
        return self.summary

    def _named(self, page: Page) -> dict[str, Mapping[str, Any]]:
        """Returns the events of `page` by id. Counts an event without a valid id as failed."""
        named = {}
        for event in page:
            self.summary.seen += 1
            try:
                named[_EVENT_ID.validate_python(event.get("id"), strict=True)] = event
            except ValidationError:
                found = f"id {event.get('id')!r:.60}, occurred_at {event.get('occurred_at')!r:.20}"
                self.summary.failed[f"entry {self.summary.seen} ({found})"] = "its id is missing or not valid"
        return named

    async def _enqueue(self, event_id: str, content: Mapping[str, Any]) -> None:
        """Enqueues a missing event. Raises QueueUnavailable if SQS refuses OUTAGE events in a row."""
        try:
            message = self._message(content)
            if self._send is not None:
                await _try(self._send, message)
            self.summary.missing.append(event_id)
            self._refused = 0
        except InvalidEvent as error:
            self.summary.failed[event_id] = f"the webhook would reject it: {error.detail}"
        except QueueUnavailable as error:
            self.summary.failed[event_id] = f"SQS refuses it: {error.cause}"
            self._refused += batch_refused(error.cause) is None
            if self._refused == OUTAGE:
                raise

    def _message(self, content: Mapping[str, Any]) -> Message:
        """Returns the service's message for an event. Raises InvalidEvent if the service would not enqueue it."""
        body = orjson.dumps(content)
        event = parse_event(body, self._wanted)
        if isinstance(event, UnwantedEvent):
            raise InvalidEvent("its type is not in APP_EVENT_TYPES", [])
        return to_message(event, body, fifo=self._fifo)


async def _try(send: Send, message: Message) -> None:
    """Sends `message` in at most ATTEMPTS attempts. Does not retry if the message itself causes the failure."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await send(message)
        except QueueUnavailable as error:
            if attempt == ATTEMPTS or batch_refused(error.cause) is not None:
                raise
            await asyncio.sleep(pause(attempt, LONGEST_PAUSE_SECONDS))
    return None
