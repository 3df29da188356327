"""Compares Chargebee's events with the processed events, and enqueues the missing ones.

This recovers events that no retry recovers. Either the service rejected the webhook until Chargebee gave up (after 3
days 7 hours), or the queue's retention period ended before a worker processed the message. If an event is enqueued
twice, its claim in the table ensures that the work is done only once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

import orjson
from loguru import logger

from app.errors import InvalidEvent, QueueUnavailable
from app.events import Event, parse_event
from app.sqs.message import Message, to_message
from app.worker.retry import pause

BATCH = 100
ATTEMPTS = 5
LONGEST_PAUSE_SECONDS = 10.0
DoneOf = Callable[[Iterable[str]], Awaitable[set[str]]]
"""A function that returns those of the given event ids whose events were processed."""
Send = Callable[[Message], Awaitable[None]]


class Summary(NamedTuple):
    """The number of events seen, the ids of missing events, and the ids of missing events that the webhook rejects."""

    seen: int
    missing: list[str]
    invalid: list[str]


def filters(wanted: frozenset[str], since: int, until: int) -> dict[str, str]:
    """Returns the query parameters of List Events. `since` and `until` are in unix seconds.

    https://apidocs.chargebee.com/docs/api/events/list-events
    """
    return {
        "event_type[in]": orjson.dumps(sorted(wanted)).decode(),
        "occurred_at[between]": orjson.dumps([str(since), str(until)]).decode(),
        "sort_by[asc]": "occurred_at",
    }


async def reconcile(
    events: AsyncIterator[Mapping[str, Any]],
    done_of: DoneOf,
    send: Send | None,
    *,
    wanted: frozenset[str],
    fifo: bool,
    progress: Callable[[int], None],
) -> Summary:
    """Compares all `events`, which are sorted by time, and enqueues the missing events if `send` is not None.

    `progress` receives the time, in unix seconds, of the last event of each batch.
    Raises BillingFailed, QueueUnavailable.
    """
    seen = 0
    missing: list[str] = []
    invalid: list[str] = []
    async for batch in _batches(events):
        done = await done_of([str(event["id"]) for event in batch])
        seen += len(batch)
        for event in batch:
            if (event_id := str(event["id"])) in done:
                continue
            missing.append(event_id)
            try:
                message = _message(event, wanted, fifo=fifo)
                if send is not None:
                    await _send(send, message)
            except InvalidEvent as error:
                logger.bind(event_id=event_id).warning("The webhook would reject this event: {}", error.detail)
                invalid.append(event_id)
        progress(int(batch[-1]["occurred_at"]))
    return Summary(seen, missing, invalid)


def _message(content: Mapping[str, Any], wanted: frozenset[str], *, fifo: bool) -> Message:
    """Returns the message that the webhook would have enqueued. Raises InvalidEvent."""
    body = orjson.dumps(content)
    event = parse_event(body, wanted)
    assert isinstance(event, Event), "List Events returns only events of the wanted types"
    return to_message(event, body, fifo=fifo)


async def _send(send: Send, message: Message) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await send(message)
        except QueueUnavailable:
            if attempt == ATTEMPTS:
                raise
            await asyncio.sleep(pause(attempt, LONGEST_PAUSE_SECONDS))
    return None


async def _batches(events: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[list[Mapping[str, Any]]]:
    batch: list[Mapping[str, Any]] = []
    async for event in events:
        batch.append(event)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
