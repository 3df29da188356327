"""Group commit: webhooks that wait at the same time go to SQS in one SendMessageBatch.

At most K calls are in flight. A free slot sends what is waiting at once. There is no timer, so an idle service adds no
latency; and a busy one batches by itself, since what arrives while every slot is taken is sent together.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import perf_counter

from app.errors import WebhookRefused
from app.sqs.limits import SendLimits
from app.sqs.message import Message, traceparents
from app.sqs.queue import BatchQueue, BatchRefused, refusal
from app.sqs.waiting import Waiting, settle_all, too_late
from app.telemetry.record import CallRecord, ObserveCall, unobserved

# SendMessageBatch's limit.
MAX_ENTRIES = 10
# The share of APP_SQS_TIMEOUT that must be left for a call to be started.
LEAST_SHARE = 0.1


class GroupCommit:
    """A queue whose `send` waits for its place in a batch. How many wait is bounded by admission."""

    def __init__(self, queue: BatchQueue, limits: SendLimits, observe: ObserveCall) -> None:
        self._queue = queue
        self._observe = observe
        self.fifo = queue.fifo
        self._slots = 1 if queue.fifo else limits.calls
        self._max_bytes = limits.call_bytes
        self._deadline = limits.deadline
        self._waiting: deque[Waiting] = deque()
        self._sending: set[asyncio.Task[None]] = set()

    async def send(self, message: Message) -> None:
        """Returns once SQS has acknowledged `message`; that of a cancelled caller is sent all the same.

        Raises QueueUnavailable (`sent`: the message may still have been enqueued) or InvalidEvent, at the latest
        after APP_SQS_TIMEOUT, waiting included.
        """
        waiting = Waiting(message, self._deadline)
        waiting.expiry = asyncio.get_running_loop().call_at(waiting.deadline, self._expire, waiting)
        self._waiting.append(waiting)
        self._fill_slots()
        try:
            await waiting.sent
        finally:
            del waiting  # its future has the error, whose traceback has this frame: a cycle would outlive the webhook

    async def close(self, seconds: float) -> None:
        """Flushes for at most `seconds`, then fails the remaining callers with QueueUnavailable."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._sending:
                    await asyncio.wait(self._sending)
        while self._waiting:
            self._waiting.popleft().settle(too_late("Closed", sent=False))
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _expire(self, waiting: Waiting) -> None:
        """The caller's deadline is over. A call with its message goes on, for the other callers."""
        if not waiting.in_call:
            self._waiting.remove(waiting)  # constant time: the first deadline to be over is the first in the queue
        waiting.settle(too_late("Timeout", sent=waiting.in_call))

    def _fill_slots(self) -> None:
        self._drop_late()
        while self._waiting and len(self._sending) < self._slots:
            task = asyncio.create_task(self._send(self._take()))
            self._sending.add(task)
            task.add_done_callback(self._free_slot)

    def _drop_late(self) -> None:
        """Callers with hardly any time left are not sent: the answer would be too late, and a retry a duplicate."""
        latest = asyncio.get_running_loop().time() + LEAST_SHARE * self._deadline
        while self._waiting and self._waiting[0].deadline < latest:
            self._expire(self._waiting[0])

    def _free_slot(self, task: "asyncio.Task[None]") -> None:
        self._sending.discard(task)
        self._fill_slots()

    def _take(self) -> list[Waiting]:
        """The next batch: waiting callers, oldest first, as many as fit into one call."""
        batch: list[Waiting] = []
        size = 0
        while self._waiting and len(batch) < MAX_ENTRIES:
            size += self._waiting[0].message.size
            if batch and size > self._max_bytes:
                break
            batch.append(self._waiting.popleft())
            batch[-1].in_call = True
        return batch

    async def _send(self, batch: list[Waiting]) -> None:
        """Sends `batch` and settles each of its callers, whatever is raised."""
        try:
            for waiting, outcome in zip(batch, await self._call(batch), strict=True):
                waiting.settle(outcome)
        except BatchRefused as refused:
            await self._send_parts(batch, refused)
        except WebhookRefused as error:
            settle_all(batch, error)
        finally:
            settle_all(batch, too_late("Cancelled", sent=True))  # those without an answer by now
            batch.clear()  # as in `send`: the error's traceback has this frame, too

    async def _call(self, batch: list[Waiting]) -> list[WebhookRefused | None]:
        messages = [waiting.message for waiting in batch]
        latest = asyncio.get_running_loop().time() + self._deadline  # the deadline of who arrives now
        record = CallRecord(
            "SendMessageBatch",
            len(batch),
            sum(message.size for message in messages),
            [latest - waiting.deadline for waiting in batch],
            traceparents=traceparents(messages),
        )
        try:
            return await self._queue.send_batch(messages, batch[-1].deadline, record)
        finally:
            record.ended = perf_counter()
            self._observe(record)

    async def _send_parts(self, batch: list[Waiting], refused: BatchRefused) -> None:
        """Sends the halves of a batch that is too long; else each entry alone, so that a bad one fails by itself."""
        if len(batch) == 1:
            batch[0].settle(refusal(refused.cause))
            return
        size = (len(batch) + 1) // 2 if refused.too_long else 1
        for start in range(0, len(batch), size):
            await self._send(batch[start : start + size])


@asynccontextmanager
async def open_group_commit(
    queue: BatchQueue, limits: SendLimits, observe: ObserveCall = unobserved
) -> AsyncIterator[GroupCommit]:
    """Group commit on `queue`, whose calls are told to `observe`; leaving the context flushes."""
    group_commit = GroupCommit(queue, limits, observe)
    try:
        yield group_commit
    finally:
        await group_commit.close(limits.deadline)
