"""What this process holds, and the heartbeat that keeps it hidden from other workers.

Everything that was received and is not settled is extended: what is worked on, what waits for a task, and what waits
for its delete.
"""

import asyncio
from collections.abc import Callable

from loguru import logger

from app.worker.queue import MOST_ENTRIES, ConsumedQueue
from app.worker.received import Received
from app.worker.retry import longest, pause

PARTS = 3  # of APP_WORKER_VISIBILITY: an extension that fails can be repeated twice


class Held:
    """A message from its receive to its end. Times of the loop's clock.

    `hidden_until`: by what SQS has confirmed. `settling`: its delete is under way, so that a refused extension may mean
    that it was deleted.
    """

    def __init__(self, received: Received, visibility: float) -> None:
        self.receive(received, visibility)
        self.task: asyncio.Task[None] | None = None
        self.settling = False
        self.lost = False

    def age(self) -> float:
        """Seconds since it was received."""
        return asyncio.get_running_loop().time() - self.since

    def is_hidden(self) -> bool:
        return asyncio.get_running_loop().time() < self.hidden_until

    def extend(self, began: float, seconds: float) -> None:
        """SQS has hidden it for `seconds` from a call that `began` then."""
        self.hidden_until = began + seconds

    def receive(self, received: Received, visibility: float) -> None:
        """It was received, maybe once more: only the newest receipt is sure to be valid."""
        self.received = received
        self.since = asyncio.get_running_loop().time()
        self.hidden_until = self.since + visibility

    def work(self, task: "asyncio.Task[None]") -> None:
        self.task = task

    def settle(self) -> None:
        self.settling = True

    def lose(self) -> None:
        self.lost = True


class Holding:
    """All that is held. `changing`: held by whoever changes visibilities, so that no extension overtakes a return."""

    def __init__(self, queue: ConsumedQueue, visibility: int, on_lost: Callable[[Held, str], None]) -> None:
        self.changing = asyncio.Lock()
        self._queue = queue
        self._visibility = visibility
        self._on_lost = on_lost
        self._held: dict[str, Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def take(self, received: Received) -> Held | None:
        """Holds it. None where the same message is held already: SQS may deliver one twice, also to one worker."""
        known = self._held.get(received.message_id)
        if known is not None:
            known.receive(received, self._visibility)
            return None
        held = self._held[received.message_id] = Held(received, self._visibility)
        return held

    def release(self, held: Held) -> None:
        """It is settled, or about to be made visible: no more extensions."""
        self._held.pop(held.received.message_id, None)

    def holds(self, held: Held) -> bool:
        return self._held.get(held.received.message_id) is held

    async def beat(self) -> None:
        """Extends until it is cancelled: every third of APP_WORKER_VISIBILITY, sooner after a failure."""
        failures = 0
        interval = self._visibility / PARTS
        while True:
            await asyncio.sleep(interval if not failures else pause(failures, interval))
            failures = 0 if await self.extend_all() else failures + 1

    async def extend_all(self) -> bool:
        """Whether SQS has answered for all. What it says is not ours any more is told to `on_lost`."""
        for held in list(self._held.values()):
            if not longest(held.age()):
                self._lose(held, "HeldTooLong")
        async with self.changing:
            held_now = list(self._held.values())
            batches = [held_now[start : start + MOST_ENTRIES] for start in range(0, len(held_now), MOST_ENTRIES)]
            answered = await asyncio.gather(*map(self._extend, batches))
        self._tell_expired()
        return all(answered)

    async def _extend(self, batch: list[Held]) -> bool:
        began = asyncio.get_running_loop().time()
        seconds = [min(self._visibility, longest(held.age())) for held in batch]
        changes = [(held.received.receipt, time) for held, time in zip(batch, seconds, strict=True)]
        try:
            refusals = await self._queue.change(changes)
        except Exception as error:
            logger.debug("No extension: {!r}", error)
            return False
        for held, time, refusal in zip(batch, seconds, refusals, strict=True):
            if refusal is None:
                held.extend(began, time)
            elif refusal.final:
                self._lose(held, refusal.code)
        return not any(refusal is not None and not refusal.final for refusal in refusals)

    def _lose(self, held: Held, code: str) -> None:
        if self.holds(held) and not held.settling:
            held.lose()
            self.release(held)
            self._on_lost(held, code)

    def _tell_expired(self) -> None:
        """What waits and was not extended in time, since SQS could not be reached, is not begun any more.

        What is worked on goes on: it may well be done before another worker begins, and the claim of its event keeps
        that one away.
        """
        for held in list(self._held.values()):
            if held.task is None and not held.is_hidden():
                self._lose(held, "Expired")
