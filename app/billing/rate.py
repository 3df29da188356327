"""Limits the API calls of all workers together: each worker reserves slots for its calls in the DynamoDB table.

A slot is a time at which one call may be made. The algorithm is GCRA without a burst
(https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm). Slots are (60 + SLACK) / limit seconds apart, so a period
of 60 s + SLACK contains no more slots than the limit. A worker makes a call at most LATE seconds after its slot. The
rest of SLACK allows for network delays and for differences between the workers' clocks. So the workers can use
60 / (60 + SLACK) = 95 % of the limit.

If several callers of a process ask for a slot at the same time, one write reserves slots for all of them (group
commit). A caller that is waiting for the time of its slot will soon ask for a new slot. So the write reserves one extra
slot for each such caller, but at most as many as fit into AHEAD seconds. An unused slot is lost, so the process
reserves no extra slots if calls are rare.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

from app.billing.dynamodb import Table
from app.billing.slots import MAX_SLOTS, Slots
from app.clock import monotonic, now_ms
from app.errors import ChargebeeUnavailable, TableUnavailable
from app.telemetry.trace import current

WINDOW, SLACK = 60.0, 3.0
LATE = AHEAD = 1.0
TRIES = 20  # after this many tries to reserve slots for a batch of callers, the callers get an error
MISSES = 3  # if a caller was too late for this many slots, it gets an error


@dataclass
class _Waiting:
    """A caller that waits for a slot. `patience`: the longest wait in seconds; `slot`: the slot's time in unix ms."""

    patience: float
    slot: "asyncio.Future[float]"


class SharedRateLimit:
    """The rate limit of all workers. `per_minute`: the limit of the Chargebee plan, in API calls per minute."""

    def __init__(self, table: Table, per_minute: int) -> None:
        self.interval = (WINDOW + SLACK) / per_minute
        self._slots = Slots(table, self.interval)
        self.patience = self._slots.patience
        # If Chargebee answers 429, all workers pause. These two values are the end of the pause: in unix ms, and as a
        # time of the monotonic clock, because the system clock may be corrected during the pause.
        self._not_before = self._rest_ends = 0.0
        self._waiting: list[_Waiting] = []
        self._sleeping = 0
        self._spare: deque[float] = deque()
        self._reserving: asyncio.Task[None] | None = None

    async def slot(self, patience: float) -> float:
        """Reserves a slot, waits for its time, and returns this time in unix ms. The slot is valid for LATE seconds.

        Raises TableUnavailable if the reservation fails. Raises ChargebeeUnavailable if the whole wait would be longer
        than `patience` seconds, or if the process was too late for MISSES slots.
        """
        deadline, misses = monotonic() + patience, 0
        while misses < MISSES:
            at = await self._reserve(patience)
            self._sleeping += 1
            try:
                await asyncio.sleep((at - now_ms()) / 1000)
                if self.is_valid(at):
                    return at
                misses += now_ms() - at > 1000 * LATE  # a slot within a pause after a 429 is not a miss
                # Without this pause, the loop might write to the table non-stop if the system clock is corrected.
                await asyncio.sleep(self.interval)
            finally:
                self._sleeping -= 1
            patience = max(deadline - monotonic(), 0.0)
        raise missed()

    def is_valid(self, slot: float) -> bool:
        """Returns whether a call may use the slot: until LATE seconds after the slot's time, but not during a pause."""
        resting = slot < self._not_before and monotonic() < self._rest_ends
        return not resting and now_ms() - slot <= 1000 * LATE

    async def push_back(self, seconds: float) -> None:
        """Makes all workers pause for `seconds`, because Chargebee has answered 429. Raises TableUnavailable.

        During the pause, another worker may still use slots that it reserved before the 429.
        """
        self._not_before = max(self._not_before, now_ms() + 1000 * seconds)
        self._rest_ends = max(self._rest_ends, monotonic() + seconds + LATE)
        await self._slots.rest(self._not_before)

    async def _reserve(self, patience: float) -> float:
        waiting = _Waiting(patience, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._reserving is None or self._reserving.done():
            self._reserving = asyncio.create_task(self._serve())
        return await waiting.slot

    async def _serve(self) -> None:
        """Reserves slots until no caller is waiting. One write serves at most MAX_SLOTS callers."""
        current.set(None)  # the writes serve several messages, so they belong to no message's trace
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_SLOTS], self._waiting[MAX_SLOTS:]
            batch = [waiting for waiting in batch if not waiting.slot.done()]  # a cancelled caller needs no slot
            try:
                await self._serve_batch(batch)
            except BaseException as error:  # otherwise, the callers would wait for ever
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
                if self._spare and first < self._spare[-1]:
                    self._spare.clear()  # the system clock was set back, so these slots are far ahead
                self._spare.extend(first + 1000 * number * self.interval for number in range(slots))
        # In every try, another worker updated the item first, or the time of the reserved slots had already passed.
        _fail(batch, TableUnavailable("The rate limit's item in the table could not be updated", "budget_contended"))

    def _without_served(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Gives reserved slots to the callers, in order. Returns the callers for whom no slot is early enough."""
        for number, waiting in enumerate(batch):
            while self._spare and not self.is_valid(self._spare[0]):
                self._spare.popleft()
            if not self._spare or self._spare[0] - now_ms() > 1000 * waiting.patience:
                return batch[number:]
            if not waiting.slot.done():  # the caller may have been cancelled meanwhile
                waiting.slot.set_result(self._spare.popleft())
        return []

    def _without_impatient(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Returns the callers that can wait for the next slot. The other callers get a ChargebeeUnavailable."""
        wait = self._slots.wait()
        error = ChargebeeUnavailable("The limit of API calls is reached", "rate_limit_reached", retry_after=wait)
        _fail([waiting for waiting in batch if waiting.patience < wait], error)
        return [waiting for waiting in batch if waiting.patience >= wait]


def missed() -> ChargebeeUnavailable:
    return ChargebeeUnavailable("The time of each reserved slot passes before the call can begin", "slots_missed")


def _fail(batch: list[_Waiting], error: BaseException) -> None:
    for waiting in batch:
        if not waiting.slot.done():
            waiting.slot.set_exception(error)
            waiting.slot.exception()  # reads the error, so that asyncio does not log it if the caller was cancelled
