"""Group commit: webhooks that wait at the same time go to SQS in one SendMessageBatch.

A few calls may be in flight. A free slot takes what is waiting, at once: there is no timer, so an idle service
adds no latency, and a busy one batches by itself, since what arrives while every slot is busy leaves together.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from app.errors import QueueUnavailable, WebhookRefused
from app.settings import Settings
from app.sqs.message import Message
from app.sqs.native import BatchRefused, NativeQueue

# SendMessageBatch takes no more.
MAX_ENTRIES = 10


class _Waiting(NamedTuple):
    message: Message
    sent: "asyncio.Future[None]"


class GroupCommit:
    """A queue whose `send` waits for its place in a batch. How many wait is bounded by admission."""

    def __init__(self, queue: NativeQueue, settings: Settings) -> None:
        self._queue = queue
        self._slots = 1 if queue.fifo else settings.sqs_batches
        self._max_bytes = settings.sqs_batch_bytes
        self._waiting: deque[_Waiting] = deque()
        self._sending: set[asyncio.Task[None]] = set()

    @property
    def fifo(self) -> bool:
        return self._queue.fifo

    async def send(self, message: Message) -> None:
        """Returns once SQS has acknowledged `message`; a caller that leaves before is sent all the same.

        Raises QueueUnavailable (the message may still have been enqueued) or InvalidEvent.
        """
        waiting = _Waiting(message, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._fill_slots()
        await asyncio.shield(waiting.sent)

    async def close(self, seconds: float) -> None:
        """Flushes for at most `seconds`, then fails what is left."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._sending:
                    await asyncio.wait(self._sending)
        while self._waiting:
            _settle(self._waiting.popleft(), _gone("Closed"))
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _fill_slots(self) -> None:
        while self._waiting and len(self._sending) < self._slots:
            task = asyncio.create_task(self._send(self._take()))
            self._sending.add(task)
            task.add_done_callback(self._free_slot)

    def _free_slot(self, task: "asyncio.Task[None]") -> None:
        self._sending.discard(task)
        self._fill_slots()

    def _take(self) -> list[_Waiting]:
        """The next batch: what waits, oldest first, as far as it fits into one call."""
        batch = [self._waiting.popleft()]
        size = batch[0].message.size
        while self._waiting and len(batch) < MAX_ENTRIES:
            size += self._waiting[0].message.size
            if size > self._max_bytes:
                break
            batch.append(self._waiting.popleft())
        return batch

    async def _send(self, batch: list[_Waiting]) -> None:
        """Settles every caller of `batch`, whatever happens."""
        try:
            outcomes = await self._queue.send_batch([waiting.message for waiting in batch])
            for waiting, outcome in zip(batch, outcomes, strict=True):
                _settle(waiting, outcome)
        except BatchRefused:
            # One bad entry may be the reason: the others must not suffer for it.
            for waiting in batch:
                await self._send_alone(waiting)
        except WebhookRefused as error:
            for waiting in batch:
                _settle(waiting, error)
        finally:
            for waiting in batch:
                _settle(waiting, _gone("Cancelled"))  # who has no answer by now

    async def _send_alone(self, waiting: _Waiting) -> None:
        try:
            await self._queue.send(waiting.message)
        except WebhookRefused as error:
            _settle(waiting, error)
        else:
            _settle(waiting, None)


def _gone(cause: str) -> QueueUnavailable:
    return QueueUnavailable("The webhook was not sent in time; send it again", cause)


def _settle(waiting: _Waiting, refused: WebhookRefused | None) -> None:
    if waiting.sent.done():
        return
    if refused is None:
        waiting.sent.set_result(None)
    else:
        waiting.sent.set_exception(refused)
        waiting.sent.exception()  # seen: a caller that has left will not fetch it


@asynccontextmanager
async def open_group_commit(queue: NativeQueue, settings: Settings) -> AsyncIterator[GroupCommit]:
    """Group commit on `queue`; leaving the context flushes."""
    group_commit = GroupCommit(queue, settings)
    try:
        yield group_commit
    finally:
        await group_commit.close(settings.sqs_timeout)
