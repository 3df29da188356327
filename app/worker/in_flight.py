"""Keeps the messages that are in flight in this worker. No other module changes their states.

A message is in flight from its receive until it is deleted, released or lost: while it waits for a task, while a task
processes it, and while it waits for its delete. A message is lost if another worker may have received it.
"""

import asyncio
from collections.abc import Iterable, Sequence

from loguru import logger

from app.worker.batches import Batches
from app.worker.consumed_queue import ConsumedQueue, FailedEntry
from app.worker.in_flight_message import InFlightMessage, MessageState
from app.worker.order import MessageOrder
from app.worker.received_message import ReceivedMessage
from app.worker.retry import longest_visibility


class InFlight:
    """All messages in flight. Sends the deletes and the releases in batches.

    Every change of visibility timeouts acquires `visibility_lock`, so that SQS gets no extension after a release.
    `changed` is set when there may be room for new messages.
    """

    def __init__(self, queue: ConsumedQueue, visibility: int) -> None:
        self.visibility_lock, self.changed = asyncio.Lock(), asyncio.Event()
        self._queue, self._visibility = queue, visibility
        self._messages: dict[str, InFlightMessage] = {}
        self._order = MessageOrder(fifo=queue.fifo)
        self._deletes = Batches(self._send_deletes, self._deleted)
        self._releases = Batches(self._send_releases, is_wanted=lambda entry: entry[0].is_hidden())

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def waiting(self) -> int:
        """The number of messages that wait for a task."""
        return len(self._order)

    def all(self) -> list[InFlightMessage]:
        return list(self._messages.values())

    def add(self, received: ReceivedMessage) -> InFlightMessage:
        """Adds a received message, and returns it. SQS may deliver a message twice, even to the same worker.

        If the message is in flight already, updates it with the data of the newest receive.
        """
        known = self._messages.get(received.message_id)
        if known is not None:
            known.receive(received, self._visibility)
            return known
        message = self._messages[received.message_id] = InFlightMessage(received, self._visibility)
        self._order.add(message)
        return message

    def next(self) -> InFlightMessage | None:
        """Returns the next message to process, which then no longer waits. Returns None if no message is ready.

        Skips the messages whose visibility timeout has ended, and counts them as lost, because the heartbeat would
        notice them only after a call to SQS.
        """
        while (message := self._order.take()) is not None and not message.is_hidden():
            self.lose(message, "Expired")
        return message

    def begin(self, message: InFlightMessage, task: "asyncio.Task[None]") -> None:
        message.become(MessageState.WORKING, task)

    def delete(self, message: InFlightMessage) -> None:
        """Deletes the handled `message` in the next batch. Until then, the heartbeat keeps the message hidden."""
        self._order.complete(message)
        if message.state is not MessageState.LOST:
            message.become(MessageState.DELETING)
            self._deletes.add(message)

    def release(self, message: InFlightMessage, seconds: int = 0) -> None:
        """Makes `message` visible to all workers after `seconds`, unless it is lost (another worker may have it).

        The later messages of its FIFO group become visible at once. If SQS stays unreachable, a message becomes visible
        when its visibility timeout ends.
        """
        behind = self._order.give_up(message)
        if message.state is not MessageState.LOST:
            self._release_all([message], seconds)
        self._release_all(behind)

    def release_waiting(self) -> None:
        """Makes the messages that wait for a task visible to other workers at once."""
        self._release_all(self._order.clear())

    def give_up(self, message: InFlightMessage) -> None:
        """Ends the heartbeat of `message`, which becomes visible again when its visibility timeout ends.

        The later messages of its FIFO group become visible at once.
        """
        self._remove(message, MessageState.GONE)
        self._release_all(self._order.give_up(message))

    def lose(self, message: InFlightMessage, code: str) -> None:
        """Cancels the task of `message`, if any, because another worker may have received the message.

        If `message` waits for a task, releases the later messages of its FIFO group. Has no effect if the delete of
        `message` has begun.
        """
        if message.state not in (MessageState.WAITING, MessageState.WORKING):
            return
        self._remove(message, MessageState.LOST)
        log = logger.bind(message_id=message.received.message_id, cause=code)
        log.warning("Another worker may have received the message")
        if message.task is not None:
            # `call_soon` cancels the task after the task's first step. If the task were cancelled earlier, its code
            # would never run, and the later messages of the FIFO group would never be released.
            asyncio.get_running_loop().call_soon(message.task.cancel)
        else:
            self._release_all(self._order.give_up(message))

    async def flush(self) -> None:
        """Sends the waiting deletes and releases, and returns when none is left. The caller must set a deadline."""
        await asyncio.gather(self._releases.flush(), self._deletes.flush())

    def close(self) -> None:
        """Drops the deletes and releases that were not sent yet, because the process ends now."""
        self._deletes.close()
        self._releases.close()

    def _remove(self, message: InFlightMessage, state: MessageState) -> None:
        message.become(state)
        if self._messages.get(message.received.message_id) is message:
            del self._messages[message.received.message_id]
        self.changed.set()

    def _release_all(self, messages: Iterable[InFlightMessage], seconds: int = 0) -> None:
        for message in messages:
            self._remove(message, MessageState.GONE)
            self._releases.add((message, seconds))

    async def _send_deletes(self, batch: Sequence[InFlightMessage]) -> list[FailedEntry | None]:
        return await self._queue.delete([message.received.receipt_handle for message in batch])

    def _deleted(self, message: InFlightMessage, failed: FailedEntry | None) -> None:
        self._remove(message, MessageState.GONE)
        if failed is not None:
            logger.bind(message_id=message.received.message_id, cause=failed.code).warning(
                "SQS did not delete a message that is done, and will deliver it again"
            )

    async def _send_releases(self, batch: Sequence[tuple[InFlightMessage, int]]) -> list[FailedEntry | None]:
        async with self.visibility_lock:
            changes = [(one.received, min(seconds, longest_visibility(one.age()))) for one, seconds in batch]
            return await self._queue.change_visibility([(one.receipt_handle, seconds) for one, seconds in changes])
