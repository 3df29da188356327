"""Reserves slots, the times for API calls. One item in the table, shared by all workers, stores the next free slot."""

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal

from loguru import logger

from app.billing.answers import LONGEST_REST
from app.billing.dynamodb import ConditionFailed, Table
from app.billing.items import RATE, Item, Update, Value
from app.clock import now_ms
from app.errors import TableUnavailable, Unprocessable

MAX_SLOTS = 100  # one write reserves slots for at most this many callers

# The condition that the item does not exist yet, or that its `next_at` is not a number.
_NONE = "attribute_not_exists(#next_at) OR NOT attribute_type(#next_at, :number)"
# The longest wait for a slot before the first API call for an event: PATIENCE seconds, or PATIENCE_SLOTS times the
# interval between two slots, whichever is longer. After the first call, the longest wait is BEGUN times as long: if the
# worker gave up, the next attempt would have to retrieve the invoice again.
PATIENCE, PATIENCE_SLOTS, BEGUN = 30.0, 3, 10


class Slots:
    """Reserves slots, which are `interval` seconds apart. `next`: the next free slot as last read, in unix ms."""

    def __init__(self, table: Table, interval: float) -> None:
        self._table = table
        self.interval = interval
        self.next = 0.0

    def patience(self, *, begun: bool) -> float:
        """Returns the longest wait for a slot in seconds. `begun` is True after the first API call for the event."""
        patience = max(PATIENCE, PATIENCE_SLOTS * self.interval)
        return patience * BEGUN if begun else patience

    def wait(self) -> float:
        """Returns the seconds until the next free slot, or a negative number if the slot's time has passed.

        Returns 0 if the stored time is implausibly far ahead.
        """
        seconds = (self.next - now_ms()) / 1000
        return seconds if seconds <= self._farthest() else 0.0

    async def take(self, number: int, patience: float) -> float | None:
        """Reserves `number` slots and returns the time of the first slot, in unix ms. Raises TableUnavailable.

        Returns None if the reservation fails: another worker has changed the item since this worker last read it, or
        the first slot is more than `patience` seconds away. The caller may then try again.
        """
        now, block = now_ms(), 1000 * number * self.interval
        if self.next < now:
            change, condition = "SET #next_at = :after", f"#next_at < :now OR {_NONE}"
            values: dict[str, Value] = {"now": _decimal(now), "after": _decimal(now + block), "number": "N"}
        elif self.next > now + 1000 * self._farthest():
            logger.warning(
                "The next slot for a call to Chargebee is {:.0f} s ahead, which must be wrong: slots start again now",
                (self.next - now) / 1000,
            )
            change, condition = "SET #next_at = :after", "#next_at > :farthest"
            values = {"farthest": _decimal(now + 1000 * self._farthest()), "after": _decimal(now + block)}
        else:
            change, condition = "SET #next_at = #next_at + :block", "#next_at BETWEEN :now AND :latest"
            values = {"now": _decimal(now), "block": _decimal(block), "latest": _decimal(now + 1000 * patience)}
        try:
            self.next = _next_at(await self._write(change, condition, values))
        except ConditionFailed as failed:
            self.next = _next_at(failed.items[0] or {})
            return None
        return self.next - block

    async def rest(self, until: float) -> None:
        """Makes `until` (unix ms) the next free slot, unless the next free slot is later. Raises TableUnavailable."""
        earlier = f"#next_at < :until OR {_NONE}"
        with suppress(ConditionFailed):  # the next free slot is `until` or later
            await self._write("SET #next_at = :until", earlier, {"until": _decimal(until), "number": "N"})

    def _farthest(self) -> float:
        """Returns how many seconds ahead a worker with a correct clock can reserve a slot, plus a margin."""
        return self.patience(begun=True) + MAX_SLOTS * self.interval + 2 * LONGEST_REST

    async def _write(self, change: str, condition: str, values: Mapping[str, Value]) -> Item:
        """Updates the item and returns its new attributes. Raises ConditionFailed, TableUnavailable."""
        try:
            return await self._table.update(Update(RATE, change, condition, **values))
        except Unprocessable as error:  # a person must have put an invalid value into the item
            raise TableUnavailable("The rate limit's item in the table is damaged", "budget_damaged") from error


def _decimal(ms: float) -> Decimal:
    return Decimal(f"{ms:.3f}")  # not whole ms: with a high rate limit, slots are less than 1 ms apart


def _next_at(item: Item) -> float:
    """Returns the time of the next free slot, or 0 if it is missing or not a number. The next write repairs it."""
    return float(item.get("next_at", {}).get("N", 0.0))
