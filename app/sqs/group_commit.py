"""Group commit: webhooks that wait at the same time go to SQS in one SendMessageBatch.

The number of calls in flight is limited: each call takes a slot. A free slot sends the waiting webhooks at once. There
is no timer, so group commit adds no latency while the service is idle. While the service is busy, all slots are taken.
The webhooks that arrive meanwhile wait, and are sent together.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import perf_counter

from app.errors import WebhookRefused
from app.sqs.limits import SendLimits
from app.sqs.message import Message, traceparents
from app.sqs.pending import PendingSend, reject_all, too_late
from app.sqs.queue import BatchQueue, BatchRefused, refusal
from app.telemetry.record import CallRecord, ObserveCall, unobserved

# SendMessageBatch's limit.
MAX_ENTRIES = 10
# A call is started only if at least this share of the deadline remains.
LEAST_SHARE = 0.1


class GroupCommit:
    """A queue whose `send` waits for a batch. Admission bounds how many messages wait."""

    def __init__(self, queue: BatchQueue, limits: SendLimits, observe: ObserveCall) -> None:
        self._queue = queue
        self._observe = observe
        self.fifo = queue.fifo
        self._slots = 1 if queue.fifo else limits.calls
        self._max_bytes = limits.call_bytes
        self._deadline = limits.deadline
        self._waiting: deque[PendingSend] = deque()
        self._sending: set[asyncio.Task[None]] = set()

    async def send(self, message: Message) -> None:
        """Returns when SQS has acknowledged `message`. The message is sent even if the caller is cancelled.

        Raises InvalidEvent, or QueueUnavailable at the latest at the deadline, which includes waiting. If the
        error's `sent` is True, the message may have been enqueued nevertheless.
        """
        pending = PendingSend(message, self._deadline)
        pending.expiry = asyncio.get_running_loop().call_at(pending.deadline, self._expire, pending)
        self._waiting.append(pending)
        self._fill_slots()
        try:
            await pending.sent
        finally:
            # Breaks a reference cycle of the future, its error, the error's traceback, and this frame.
            del pending

    async def close(self, seconds: float) -> None:
        """Flushes for at most `seconds`, then rejects the remaining sends with QueueUnavailable."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._sending:
                    await asyncio.wait(self._sending)
        while self._waiting:
            self._waiting.popleft().resolve(too_late("Closed", sent=False))
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _expire(self, pending: PendingSend) -> None:
        """Rejects a send whose deadline has passed. A call that contains its message continues."""
        if not pending.in_call:
            # `remove` takes constant time, because the send with the earliest deadline is first in the queue.
            self._waiting.remove(pending)
        pending.resolve(too_late("Timeout", sent=pending.in_call))

    def _fill_slots(self) -> None:
        self._drop_late()
        while self._waiting and len(self._sending) < self._slots:
            task = asyncio.create_task(self._send(self._take()))
            self._sending.add(task)
            task.add_done_callback(self._free_slot)

    def _drop_late(self) -> None:
        """Rejects sends with less than LEAST_SHARE of their deadline left.

        SQS could accept such a message after its webhook was rejected. The redelivery would then be a duplicate.
        """
        latest = asyncio.get_running_loop().time() + LEAST_SHARE * self._deadline
        while self._waiting and self._waiting[0].deadline < latest:
            self._expire(self._waiting[0])

    def _free_slot(self, task: "asyncio.Task[None]") -> None:
        self._sending.discard(task)
        self._fill_slots()

    def _take(self) -> list[PendingSend]:
        """Takes the next batch: the pending sends that fit into one call, oldest first."""
        batch: list[PendingSend] = []
        size = 0
        while self._waiting and len(batch) < MAX_ENTRIES:
            size += self._waiting[0].message.size
            if batch and size > self._max_bytes:
                break
            batch.append(self._waiting.popleft())
            batch[-1].in_call = True
        return batch

    async def _send(self, batch: list[PendingSend]) -> None:
        """Sends `batch`, and resolves or rejects each of its sends, even after an unexpected exception."""
        try:
            for pending, outcome in zip(batch, await self._call(batch), strict=True):
                pending.resolve(outcome)
        except BatchRefused as refused:
            await self._send_parts(batch, refused)
        except WebhookRefused as error:
            reject_all(batch, error)
        finally:
            reject_all(batch, too_late("Cancelled", sent=True))  # sends that are still without a result
            batch.clear()  # breaks a reference cycle, as in `send`

    async def _call(self, batch: list[PendingSend]) -> list[WebhookRefused | None]:
        messages = [pending.message for pending in batch]
        latest = asyncio.get_running_loop().time() + self._deadline  # the deadline of a message that arrives now
        record = CallRecord(
            "SendMessageBatch",
            len(batch),
            sum(message.size for message in messages),
            [latest - pending.deadline for pending in batch],
            traceparents=traceparents(messages),
        )
        try:
            return await self._queue.send_batch(messages, batch[-1].deadline, record)
        finally:
            record.ended = perf_counter()
            self._observe(record)

    async def _send_parts(self, batch: list[PendingSend], refused: BatchRefused) -> None:
        """Sends a batch that is too long in halves, and any other refused batch entry by entry."""
        if len(batch) == 1:
            batch[0].resolve(refusal(refused.cause))
            return
        size = (len(batch) + 1) // 2 if refused.too_long else 1
        for start in range(0, len(batch), size):
            await self._send(batch[start : start + size])


@asynccontextmanager
async def open_group_commit(
    queue: BatchQueue, limits: SendLimits, observe: ObserveCall = unobserved
) -> AsyncIterator[GroupCommit]:
    """Yields a group commit on `queue`, and flushes it afterwards. `observe` receives the record of each call."""
    group_commit = GroupCommit(queue, limits, observe)
    try:
        yield group_commit
    finally:
        await group_commit.close(limits.deadline)
