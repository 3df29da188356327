"""Deletes what is done, in batches.

A message that is done and whose delete did not arrive is received again, and its event found done: deleting is what
may be repeated, not the work.
"""

from collections.abc import Callable, Sequence

from loguru import logger

from app.worker.batches import Batches
from app.worker.held import Held, Holding
from app.worker.queue import ConsumedQueue, Refusal


class Deletions:
    """`on_room` is called when messages are not held any more."""

    def __init__(self, queue: ConsumedQueue, holding: Holding, on_room: Callable[[], None]) -> None:
        self._queue, self._holding, self._on_room = queue, holding, on_room
        self._batches = Batches(self._call, self._settle, lambda held: not held.lost)
        self.flush, self.close = self._batches.flush, self._batches.close

    def add(self, held: Held) -> None:
        """`held` is extended until it is deleted."""
        held.settle()
        self._batches.add(held)

    async def _call(self, batch: Sequence[Held]) -> list[Refusal | None]:
        return await self._queue.delete([held.received.receipt for held in batch])

    def _settle(self, held: Held, refusal: Refusal | None) -> None:
        self._holding.release(held)
        self._on_room()
        if refusal is not None:
            logger.bind(message_id=held.received.message_id, cause=refusal.code).warning(
                "A message that is done was not deleted: it will come once more"
            )
