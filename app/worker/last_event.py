"""Stores in DynamoDB when the workers last received an event. At the start, a worker warns if this was too long ago.

Chargebee gives up a webhook after 3 days 7 hours. If no event has arrived for longer, events may have been lost.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from loguru import logger

from app.billing.dynamodb import ConditionFailed, Table
from app.billing.items import Key, Update, number
from app.clock import now_seconds
from app.errors import BillingFailed
from app.events import Event
from app.worker.handle import Process
from app.worker.retry import pause

KEY: Key = {"pk": {"S": "worker"}, "sk": {"S": "last_event"}}
EVERY_SECONDS = 60
REDELIVERED_SECONDS = (3 * 24 + 7) * 3600
DAY_SECONDS = 24 * 3600
LONGEST_PAUSE_SECONDS = 20.0


@asynccontextmanager
async def noting(table: Table, process: Process) -> AsyncIterator[Process]:
    """Yields a function that first stores the event's time of arrival in the table, and then calls `process`.

    The function writes to the table at most once a minute. At the start, a task reads the time of the last event from
    the table, and logs a warning if it is more than REDELIVERED_SECONDS ago. Failures of the table do not stop the
    processing.
    """
    last_event = _LastEvent(table)

    async def processing(event: Event) -> str:
        last_event.arrived = now_seconds()
        await last_event.note()
        return await process(event)

    checking = asyncio.create_task(last_event.check())
    try:
        yield processing
    finally:
        checking.cancel()
        await asyncio.wait([checking])


class _LastEvent:
    """The table's item for the last event. `arrived`: when this process last received an event (unix seconds), or 0."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.arrived = self._noted = 0
        self._is_checked = False  # before the check, this process must not replace the time in the table

    async def check(self) -> None:
        """Reads the item as soon as the table answers. Logs a warning if `gap_since` finds a gap."""
        failures = 0
        while not self._is_checked:
            try:
                items = await self._table.get_all([KEY])
                self._is_checked = True
            except BillingFailed as error:
                failures += 1
                logger.debug("The table does not say when the last event has arrived: {}", error.code)
                await asyncio.sleep(pause(failures, LONGEST_PAUSE_SECONDS))
        if items and (last := number(items[0], "at")) is not None:
            _warn(last, now_seconds())
        await self.note()

    async def note(self) -> None:
        """Writes `arrived` to the item, but at most once a minute, and only after `check`. Ignores failures."""
        if not self._is_checked or self.arrived - self._noted < EVERY_SECONDS:
            return
        self._noted = self.arrived
        update = Update(KEY, "SET #at = :at", "attribute_not_exists(#at) OR #at < :at", at=self.arrived)
        with suppress(BillingFailed, ConditionFailed):  # ConditionFailed: another worker has noted a later time
            await self._table.update(update)


def gap_since(last: int, now: int) -> str | None:
    """Returns the value of `reconcile --since` that covers the gap from `last` to `now` (unix seconds).

    Returns None if the gap is too short to lose events. The value also covers REDELIVERED_SECONDS before the gap,
    because Chargebee may have sent an event for the first time before the gap, and given it up during the gap.
    """
    if now - last <= REDELIVERED_SECONDS:
        return None
    return f"{-(-(now - last + REDELIVERED_SECONDS) // DAY_SECONDS)}d"


def _warn(last: int, now: int) -> None:
    if (since := gap_since(last, now)) is not None:
        logger.warning(
            "No worker has received an event for {:.1f} days: Chargebee gives up a webhook after 3 days 7 hours, so"
            " `python -m app reconcile --since {}` enqueues what was lost",
            (now - last) / DAY_SECONDS,
            since,
        )
