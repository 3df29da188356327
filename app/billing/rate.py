"""One budget of API calls for all workers: slots, reserved through the table.

GCRA without a burst (https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm): slots are (60 + SLACK) / limit seconds
apart, so 60 s + SLACK hold no more of them than the limit. A call is made within LATE of its slot; the rest of SLACK is
for the network's delays and the difference of the workers' clocks. 60 / (60 + SLACK) = 95 % of the limit can be used.

All that ask at the same time are served by one write, as in group commit. Callers that wait for their slots will soon
ask again: a write takes one more for each of them, within AHEAD seconds. What is not used is lost, so nothing is taken
in advance where calls are rare.
"""

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from app.billing.dynamodb import Table, now_ms
from app.billing.slots import MOST, Slots
from app.errors import ChargebeeUnavailable, TableUnavailable

WINDOW, SLACK = 60.0, 3.0
LATE = AHEAD = 1.0
TRIES = 20  # writes for one batch


@dataclass
class _Waiting:
    """`patience`: seconds; `slot`: unix ms."""

    patience: float
    slot: "asyncio.Future[float]"


class Budget:
    """`per_minute`: the limit of the plan."""

    def __init__(self, table: Table, per_minute: int) -> None:
        self.interval = (WINDOW + SLACK) / per_minute
        self._slots = Slots(table, self.interval)
        self.patience = self._slots.patience
        # The end of the last rest, in unix ms and by the monotonic clock: the former may be corrected.
        self._not_before = self._rest_ends = 0.0
        self._waiting: list[_Waiting] = []
        self._sleeping = 0
        self._spare: deque[float] = deque()
        self._reserving: asyncio.Task[None] | None = None

    async def slot(self, patience: float) -> float:
        """Returns when a call may be made: the slot, which holds for LATE.

        Raises ChargebeeUnavailable where that would take longer than `patience` seconds, TableUnavailable.
        """
        while True:
            at = await self._reserve(patience)
            self._sleeping += 1
            try:
                await asyncio.sleep((at - now_ms()) / 1000)
                if self.holds(at):
                    return at
                await asyncio.sleep(self.interval)  # no write after the other, where a clock was corrected
            finally:
                self._sleeping -= 1

    def holds(self, slot: float) -> bool:
        """Not when it was overslept, nor when a 429 has told everyone to wait since."""
        resting = slot < self._not_before and time.monotonic() < self._rest_ends
        return not resting and now_ms() - slot <= 1000 * LATE

    async def push_back(self, seconds: float) -> None:
        """Lets all workers rest for that long, except for slots that they have reserved. Raises TableUnavailable."""
        self._not_before = max(self._not_before, now_ms() + 1000 * seconds)
        self._rest_ends = max(self._rest_ends, time.monotonic() + seconds + LATE)
        await self._slots.rest(self._not_before)

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
            except BaseException as error:  # whatever it is, nobody may wait for ever
                _fail(batch, error)
                if not isinstance(error, Exception):
                    raise

    async def _serve_batch(self, batch: list[_Waiting]) -> None:
        for _ in range(TRIES):
            batch = [waiting for waiting in self._without_served(batch) if not waiting.slot.done()]
            if not (batch := self._without_impatient(batch)):
                return
            ahead = min(self._sleeping, int(AHEAD / self.interval)) if self._slots.next > now_ms() else 0
            slots = len(batch) + ahead
            first = await self._slots.take(slots, max(waiting.patience for waiting in batch))
            if first is not None:
                self._spare.extend(first + 1000 * number * self.interval for number in range(slots))
        # Each write failed for its condition, or its slots were too late.
        _fail(batch, TableUnavailable("The budget of API calls cannot be written", "budget_contended"))

    def _without_served(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Hands out the slots there are, in order."""
        for number, waiting in enumerate(batch):
            while self._spare and not self.holds(self._spare[0]):
                self._spare.popleft()
            if not self._spare:
                return batch[number:]
            if not waiting.slot.done():  # it may have been cancelled meanwhile
                waiting.slot.set_result(self._spare.popleft())
        return []

    def _without_impatient(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Refuses those whose slot would come too late."""
        wait = self._slots.wait()
        error = ChargebeeUnavailable("The limit of API calls is reached", "rate_limit_reached", retry_after=wait)
        _fail([waiting for waiting in batch if waiting.patience < wait], error)
        return [waiting for waiting in batch if waiting.patience >= wait]


def _fail(batch: list[_Waiting], error: BaseException) -> None:
    for waiting in batch:
        if not waiting.slot.done():
            waiting.slot.set_exception(error)
            waiting.slot.exception()  # marks it as retrieved: a cancelled caller never will
