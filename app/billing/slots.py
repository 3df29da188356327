"""The rate limit's item in the table: the time of the next free slot, which every worker moves forward."""

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal

from loguru import logger

from app.billing.answers import LONGEST_REST
from app.billing.dynamodb import ConditionFailed, Table, now_ms
from app.billing.items import RATE, Item, Update, Value
from app.errors import TableUnavailable, Unprocessable

MAX_SLOTS = 100  # per write
# There is no item yet, or its time is no number.
_NONE = "attribute_not_exists(#next_at) OR NOT attribute_type(#next_at, :number)"
# The longest wait for a slot before an event's first call, in seconds and in slots. Later in the event's work it is
# BEGUN times longer, because giving up would cost another retrieval of the invoice.
PATIENCE, PATIENCE_SLOTS, BEGUN = 30.0, 3, 10


class Slots:
    """The slots, `interval` seconds apart. `next`: the next free slot as last seen, in unix ms."""

    def __init__(self, table: Table, interval: float) -> None:
        self._table = table
        self.interval = interval
        self.next = 0.0

    def patience(self, *, begun: bool) -> float:
        """Returns the seconds that a caller waits for a slot; `begun`: after its event's first call."""
        patience = max(PATIENCE, PATIENCE_SLOTS * self.interval)
        return patience * BEGUN if begun else patience

    def wait(self) -> float:
        """Returns the seconds until the next free slot, as last seen; 0 if its time cannot be right."""
        seconds = (self.next - now_ms()) / 1000
        return seconds if seconds <= self._farthest() else 0.0

    async def take(self, number: int, patience: float) -> float | None:
        """Reserves `number` slots. Returns the first, in unix ms, or None if another worker has moved `next`.

        Raises TableUnavailable.
        """
        now, block = now_ms(), 1000 * number * self.interval
        if self.next < now:
            change, condition = "SET #next_at = :after", f"#next_at < :now OR {_NONE}"
            values: dict[str, Value] = {"now": _decimal(now), "after": _decimal(now + block), "number": "N"}
        elif self.next > now + 1000 * self._farthest():
            logger.warning(
                "The next call to Chargebee was planned in {:.0f} s, which cannot be right: the slots begin again now",
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
        """Leaves no slot free before `until`, unix ms. Slots that other workers have reserved already are still used.

        Raises TableUnavailable.
        """
        earlier = f"#next_at < :until OR {_NONE}"
        with suppress(ConditionFailed):  # another worker rests for longer
            await self._write("SET #next_at = :until", earlier, {"until": _decimal(until), "number": "N"})

    def _farthest(self) -> float:
        """Returns the seconds to the farthest slot that a worker with a right clock can have, with a margin."""
        return self.patience(begun=True) + MAX_SLOTS * self.interval + 2 * LONGEST_REST

    async def _write(self, change: str, condition: str, values: Mapping[str, Value]) -> Item:
        """Raises ConditionFailed, TableUnavailable."""
        try:
            return await self._table.update(Update(RATE, change, condition, **values))
        except Unprocessable as error:  # no event is at fault: a person has changed the item
            raise TableUnavailable("The rate limit's item is damaged", "budget_damaged") from error


def _decimal(ms: float) -> Decimal:
    return Decimal(f"{ms:.3f}")  # at high limits an interval is shorter than a millisecond


def _next_at(item: Item) -> float:
    """Returns 0 if there is no number, which the next write replaces."""
    return float(item.get("next_at", {}).get("N", 0.0))
