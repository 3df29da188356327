"""One budget of API calls for all workers: slots, reserved through the table.

Chargebee counts the calls of a minute. Slots are (60 + SLACK) / limit seconds apart, so any 60 s + SLACK hold no more
of them than the limit; a call is made within LATE of its slot, and the rest of SLACK is for the network's delays and
for the difference of the workers' clocks. So 60 / (60 + SLACK) = 95 % of the limit can be used, and there are no
bursts. (The same as GCRA, https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm, with a tolerance of zero.)

All that wait in a process are served by one write, as in group commit: a write for each call where they are rare, and
one for up to as many calls as events are processed at a time where they are not. No slot is reserved for nobody.
"""

import asyncio
from dataclasses import dataclass
from decimal import Decimal

from app.billing.dynamodb import ConditionFailed, Table
from app.billing.items import RATE, Item, Update
from app.billing.leases import now_ms
from app.errors import BillingFailed, ChargebeeUnavailable

WINDOW, SLACK = 60.0, 3.0
LATE = 1.0
MOST = 100  # slots in one write


@dataclass
class _Waiting:
    """`patience`: the longest wait in seconds; `slot`: its time, in unix ms."""

    patience: float
    slot: "asyncio.Future[float]"


class Budget:
    """`per_minute`: the limit of the plan."""

    def __init__(self, table: Table, per_minute: int) -> None:
        self._table = table
        self.interval = (WINDOW + SLACK) / per_minute
        self._next = 0.0  # the next free slot as last seen, unix ms; it only ever grows
        self._not_before = 0.0
        self._waiting: list[_Waiting] = []
        self._reserving: asyncio.Task[None] | None = None

    async def slot(self, patience: float) -> float:
        """Returns when a call may be made: the slot, which holds for LATE.

        Raises ChargebeeUnavailable where that would take longer than `patience` seconds, TableUnavailable.
        """
        while True:
            at = await self._reserve(patience)
            await asyncio.sleep((at - now_ms()) / 1000)
            if self.holds(at):
                return at

    def holds(self, slot: float) -> bool:
        """Not when it was overslept, nor when a 429 has told everyone to wait since."""
        return slot >= self._not_before and now_ms() - slot <= 1000 * LATE

    async def push_back(self, seconds: float) -> None:
        """No slot of any worker for that long, but those reserved already elsewhere. Raises TableUnavailable."""
        until = self._not_before = max(self._not_before, now_ms() + 1000 * seconds)
        later = "attribute_not_exists(#pk) OR #next_at < :until"
        try:
            await self._table.update(Update(RATE, "SET #next_at = :until", later, {"until": _decimal(until)}))
        except ConditionFailed:
            return  # another worker was told to wait longer

    async def _reserve(self, patience: float) -> float:
        waiting = _Waiting(patience, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._reserving is None or self._reserving.done():
            self._reserving = asyncio.create_task(self._serve())
        return await waiting.slot

    async def _serve(self) -> None:
        """A write for all that wait, then for those that have come meanwhile."""
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            batch = [waiting for waiting in batch if not waiting.slot.done()]  # others were cancelled
            try:
                await self._serve_batch(batch)
            except BillingFailed as error:
                _fail(batch, error)
            except BaseException:
                for waiting in batch:
                    waiting.slot.cancel()
                raise

    async def _serve_batch(self, batch: list[_Waiting]) -> None:
        while batch := self._without_impatient(batch):
            first = await self._take(len(batch), max(waiting.patience for waiting in batch))
            if first is not None:
                for number, waiting in enumerate(batch):
                    if not waiting.slot.done():
                        waiting.slot.set_result(first + 1000 * number * self.interval)
                return

    def _without_impatient(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Refuses those whose slot would come too late."""
        wait = (self._next - now_ms()) / 1000
        refused = [waiting for waiting in batch if waiting.patience < wait]
        detail = "The limit of API calls is reached"
        _fail(refused, ChargebeeUnavailable(detail, "rate_limit_reached", retry_after=wait))
        return [waiting for waiting in batch if waiting.patience >= wait]

    async def _take(self, slots: int, patience: float) -> float | None:
        """The first of `slots`, unix ms. None: the next free one is not when it was thought to be."""
        now = now_ms()
        block = 1000 * slots * self.interval
        if self._next < now:
            change, condition = "SET #next_at = :after", "attribute_not_exists(#pk) OR #next_at < :now"
            values = {"after": _decimal(now + block), "now": _decimal(now)}
        else:
            change, condition = "SET #next_at = #next_at + :block", "#next_at BETWEEN :now AND :latest"
            latest = _decimal(now + 1000 * patience)
            values = {"block": _decimal(block), "now": _decimal(now), "latest": latest}
        try:
            self._next = _next_at(await self._table.update(Update(RATE, change, condition, dict(values))))
        except ConditionFailed as failed:
            self._next = _next_at(failed.items[0] or {})
            return None
        return self._next - block


def _fail(batch: list[_Waiting], error: BillingFailed) -> None:
    for waiting in batch:
        if not waiting.slot.done():
            waiting.slot.set_exception(error)
            waiting.slot.exception()  # marks it as retrieved: a cancelled caller never will


def _decimal(ms: float) -> Decimal:
    """Milliseconds to three places: at high limits an interval is shorter than one."""
    return Decimal(f"{ms:.3f}")


def _next_at(item: Item) -> float:
    return float(item["next_at"]["N"]) if "next_at" in item else 0.0
