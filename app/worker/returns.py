"""Makes messages visible again: later, those that failed; at once, those that another worker is to have."""

from collections.abc import Sequence
from typing import NamedTuple

from app.worker.batches import Batches
from app.worker.held import Held, Holding
from app.worker.queue import ConsumedQueue, Refusal
from app.worker.retry import longest


class Return(NamedTuple):
    """`seconds`: until it is visible."""

    held: Held
    seconds: int


class Returns:
    """Where SQS cannot be reached until a message's visibility is over, that returns it, earlier or later."""

    def __init__(self, queue: ConsumedQueue, holding: Holding) -> None:
        self._queue, self._holding = queue, holding
        self._batches = Batches(self._call, lambda _, __: None, lambda entry: entry.held.is_hidden())
        self.flush, self.close = self._batches.flush, self._batches.close

    def add(self, held: Held, seconds: int = 0) -> None:
        """`held` is extended no more."""
        self._holding.release(held)
        self._batches.add(Return(held, seconds))

    async def _call(self, batch: Sequence[Return]) -> list[Refusal | None]:
        async with self._holding.changing:
            return await self._queue.change(
                [(entry.held.received.receipt, min(entry.seconds, longest(entry.held.age()))) for entry in batch]
            )
