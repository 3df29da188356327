"""Compares what Chargebee says has happened with what was processed, and enqueues what is missing.

For what no retry brings back: webhooks that were refused for longer than Chargebee redelivers (3 days 7 hours), or
messages that outlived the queue's retention. An event that is on its way is enqueued once more, and its claim sees to
it that it is done once.
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
"""Which of these event ids were processed."""
Send = Callable[[Message], Awaitable[None]]


class Summary(NamedTuple):
    """`seen`: how many; `missing`: ids of those that were not processed; `invalid`: ids that the webhook refuses."""

    seen: int
    missing: list[str]
    invalid: list[str]


def filters(wanted: frozenset[str], since: int, until: int) -> dict[str, str]:
    """Of List Events: https://apidocs.chargebee.com/docs/api/events/list-events. Times in unix seconds."""
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
    """Looks at all `events`, which come in the order of their times; without `send` that is all.

    `progress` gets the time of the last one, in unix seconds. Raises BillingFailed and QueueUnavailable.
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
            except InvalidEvent as error:
                logger.bind(event_id=event_id).warning("Not an event that the webhook takes: {}", error.detail)
                invalid.append(event_id)
                continue
            if send is not None:
                await _send(send, message)
        progress(int(batch[-1]["occurred_at"]))
    return Summary(seen, missing, invalid)


def _message(content: Mapping[str, Any], wanted: frozenset[str], *, fifo: bool) -> Message:
    """As the webhook would have enqueued it. Raises InvalidEvent."""
    body = orjson.dumps(content)
    event = parse_event(body, wanted)
    assert isinstance(event, Event), "List Events is filtered by the wanted types"
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
