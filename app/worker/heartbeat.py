"""The heartbeat, which regularly extends the visibility timeouts of the messages in flight."""

import asyncio

from loguru import logger

from app.worker.consumed_queue import MAX_ENTRIES, ConsumedQueue
from app.worker.in_flight import InFlight
from app.worker.in_flight_message import InFlightMessage, MessageState
from app.worker.retry import longest_visibility, pause

# Number of extensions in each visibility timeout. There is more than one extension, so that a single failure does no
# harm.
EXTENSIONS = 3


class Heartbeat:
    """Keeps the messages in flight hidden from other workers, for `visibility` seconds after each extension."""

    def __init__(self, queue: ConsumedQueue, visibility: int, in_flight: InFlight) -> None:
        self._queue, self._visibility, self._in_flight = queue, visibility, in_flight

    async def run(self) -> None:
        """Extends the visibility timeouts until the task is cancelled.

        Waits a third of the visibility timeout between two extensions, and less after a failure.
        """
        failures, interval = 0, self._visibility / EXTENSIONS
        while True:
            await asyncio.sleep(interval if not failures else pause(failures, interval))
            failures = 0 if await self.extend_all() else failures + 1

    async def extend_all(self) -> bool:
        """Extends the visibility timeout of every message.

        A message is lost if SQS refuses the extension, or if SQS has hidden the message for almost the maximum of 12
        hours. A message that waits for a task is also lost if its visibility timeout has ended. A message that a task
        processes is not lost when its timeout ends, because the task may finish before another worker receives the
        message. If another worker receives the message first, the claim on the event prevents duplicate work.

        Returns False if an extension has failed and should be repeated.
        """
        for message in self._in_flight.all():
            if not longest_visibility(message.age()):
                self._in_flight.lose(message, "HeldTooLong")
        async with self._in_flight.visibility_lock:
            messages = self._in_flight.all()
            batches = [messages[start : start + MAX_ENTRIES] for start in range(0, len(messages), MAX_ENTRIES)]
            answered = await asyncio.gather(*map(self._extend, batches))
        for message in messages:
            if message.state is MessageState.WAITING and not message.is_hidden():
                self._in_flight.lose(message, "Expired")
        return all(answered)

    async def _extend(self, batch: list[InFlightMessage]) -> bool:
        began = asyncio.get_running_loop().time()
        seconds = [min(self._visibility, longest_visibility(message.age())) for message in batch]
        handles = [message.received.receipt_handle for message in batch]
        try:
            failures = await self._queue.change_visibility(list(zip(handles, seconds, strict=True)))
        except Exception as error:
            logger.debug("The visibility timeouts were not extended: {!r}", error)
            return False
        for message, handle, time, failed in zip(batch, handles, seconds, failures, strict=True):
            if message.received.receipt_handle != handle:
                continue  # SQS has delivered the message again during the call, with a new handle and a new timeout
            if failed is None:
                message.extend(began, time)
            elif failed.final:
                self._in_flight.lose(message, failed.code)
        return not any(failed is not None and not failed.final for failed in failures)
