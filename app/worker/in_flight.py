"""The messages in flight of this worker, and the heartbeat that keeps them hidden from other workers.

A message is in flight from its receive until it is deleted or released: while it waits for a task, while a task
processes it, and while it waits for its delete. The heartbeat regularly extends its visibility timeout.
"""

import asyncio
from collections.abc import Callable

from loguru import logger

from app.worker.consumed_queue import MAX_ENTRIES, ConsumedQueue
from app.worker.received_message import ReceivedMessage
from app.worker.retry import longest_visibility, pause

# Number of extensions in each APP_WORKER_VISIBILITY. More than one, so that a single failed extension does no harm.
EXTENSIONS = 3


class InFlightMessage:
    """A message from its receive until it is deleted or released. Times are in seconds of the event loop's clock.

    `hidden_until`: the end of the visibility timeout that SQS has confirmed. `deleting`: a delete has begun, so SQS may
    reject an extension because the message no longer exists. `lost`: another worker may have the message.
    """

    def __init__(self, received: ReceivedMessage, visibility: float) -> None:
        self.receive(received, visibility)
        self.task: asyncio.Task[None] | None = None
        self.deleting = False
        self.lost = False

    def receive(self, received: ReceivedMessage, visibility: float) -> None:
        """Stores the newest receive of the message, because the receipt handles of earlier receives may be invalid."""
        self.received = received
        self.received_at = asyncio.get_running_loop().time()
        self.hidden_until = self.received_at + visibility

    def age(self) -> float:
        """Returns the seconds since the last receive."""
        return asyncio.get_running_loop().time() - self.received_at

    def is_hidden(self) -> bool:
        return asyncio.get_running_loop().time() < self.hidden_until

    def extend(self, began: float, seconds: float) -> None:
        """Stores that SQS hides the message for `seconds`, counted from `began`, the start of the call."""
        self.hidden_until = began + seconds

    def start(self, task: "asyncio.Task[None]") -> None:
        self.task = task

    def begin_delete(self) -> None:
        self.deleting = True

    def lose(self) -> None:
        self.lost = True


class InFlight:
    """All messages in flight, by message id. `on_lost` receives messages that another worker may have, and the reason.

    Every change of visibility timeouts acquires `visibility_lock`, so that SQS gets no extension after a release.
    """

    def __init__(self, queue: ConsumedQueue, visibility: int, on_lost: Callable[[InFlightMessage, str], None]) -> None:
        self.visibility_lock = asyncio.Lock()
        self._queue, self._visibility, self._on_lost = queue, visibility, on_lost
        self._messages: dict[str, InFlightMessage] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, received: ReceivedMessage) -> InFlightMessage | None:
        """Adds a message and returns it. Returns None if the message is in flight already.

        SQS may deliver a message twice, even to the same worker.
        """
        known = self._messages.get(received.message_id)
        if known is not None:
            known.receive(received, self._visibility)
            return None
        message = self._messages[received.message_id] = InFlightMessage(received, self._visibility)
        return message

    def remove(self, message: InFlightMessage) -> None:
        """Removes a message that was deleted or will be released, so that the heartbeat no longer extends it."""
        self._messages.pop(message.received.message_id, None)

    async def heartbeat(self) -> None:
        """Extends the visibility timeouts until the task is cancelled.

        Waits a third of APP_WORKER_VISIBILITY between two extensions, and less after a failure.
        """
        failures, interval = 0, self._visibility / EXTENSIONS
        while True:
            await asyncio.sleep(interval if not failures else pause(failures, interval))
            failures = 0 if await self.extend_all() else failures + 1

    async def extend_all(self) -> bool:
        """Extends the visibility timeout of every message.

        Calls `on_lost` for each message that SQS refuses to extend, that SQS has hidden for almost the maximum of 12
        hours, or that waits for a task although its visibility timeout has ended.
        Returns False if an extension has failed and should be repeated.
        """
        for message in list(self._messages.values()):
            if not longest_visibility(message.age()):
                self._lose(message, "HeldTooLong")
        async with self.visibility_lock:
            messages = list(self._messages.values())
            batches = [messages[start : start + MAX_ENTRIES] for start in range(0, len(messages), MAX_ENTRIES)]
            answered = await asyncio.gather(*map(self._extend, batches))
        for message in messages:
            self.lose_if_expired(message)
        return all(answered)

    def lose_if_expired(self, message: InFlightMessage) -> bool:
        """Treats a waiting message as lost if its visibility timeout has ended. Returns whether the message is lost.

        Messages in work are not lost, because their work may end before another worker receives them. If another worker
        receives one, the claim on the event prevents duplicate work.
        """
        if message.task is None and not message.is_hidden():
            self._lose(message, "Expired")
        return message.lost

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
                continue  # received again during the call: the newest handle is valid, and its time-out is new
            if failed is None:
                message.extend(began, time)
            elif failed.final:
                self._lose(message, failed.code)
        return not any(failed is not None and not failed.final for failed in failures)

    def _lose(self, message: InFlightMessage, code: str) -> None:
        if self._messages.get(message.received.message_id) is message and not message.deleting:
            message.lose()
            self.remove(message)
            self._on_lost(message, code)
