"""Implements group commit: messages that wait at the same time go to SQS in one SendMessageBatch.

If fewer than `SendLimits.calls` calls are in flight, a slot is free: group commit sends a message at once, without a
timer, and so adds no latency. Otherwise, messages wait for a free slot, and one call then sends up to ten messages. If
SQS is so slow that the waiting messages fill a whole call, the call begins without a free slot, unless
`SendLimits.full_calls` calls are in flight.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from functools import partial
from time import perf_counter

from app.errors import WebhookRefused
from app.sqs.message import Message, traceparents
from app.sqs.pending import OnSettled, Pending, PendingSend, resolve, too_late
from app.sqs.queue import BatchQueue, BatchRefused, SendLimits, refusal
from app.telemetry.record import CallRecord, ObserveCall, unobserved

# Maximum number of messages in one SendMessageBatch, which is SQS's limit.
MAX_ENTRIES = 10
# Group commit sends a message only if at least this share of `SendLimits.deadline` remains.
LEAST_SHARE = 0.1


class GroupCommit:
    """A queue that sends messages in batches. `app.web.admission` limits how many messages can wait."""

    def __init__(self, queue: BatchQueue, limits: SendLimits, observe: ObserveCall) -> None:
        self._queue = queue
        self._observe = observe
        self.fifo = queue.fifo
        self._slots = 1 if queue.fifo else limits.calls
        self._most_calls = 1 if queue.fifo else max(limits.calls, limits.full_calls)
        self._max_bytes = limits.call_bytes
        self._deadline = limits.deadline
        self._waiting: deque[PendingSend] = deque()
        self._waiting_bytes = 0
        self._pending = Pending(self._expire)
        self._sending: set[asyncio.Task[None]] = set()

    async def send(self, message: Message) -> None:
        """Returns when SQS has acknowledged `message`. The message is sent even if the caller is cancelled.

        Raises InvalidEvent if SQS rejects a character of the body, and QueueUnavailable after any other failure, or
        when `SendLimits.deadline` passes. If the error's attribute `sent` is True, SQS may have enqueued the message.
        """
        sent = asyncio.get_running_loop().create_future()
        self.submit(message, partial(resolve, sent))
        try:
            await sent
        finally:
            # Breaks a reference cycle: the future → its exception → the traceback → this frame → the future.
            del sent

    def submit(self, message: Message, on_settled: OnSettled) -> None:
        """Sends `message`, and then calls `on_settled` once: with None, or with the error that `send` would raise.

        `on_settled` must not raise an exception. It is called after `submit` has returned, even if a slot is free.
        """
        pending = PendingSend(message, asyncio.get_running_loop().time() + self._deadline)
        self._pending.add(pending, on_settled)
        self._waiting.append(pending)
        self._waiting_bytes += message.size
        if self._may_call():
            self._begin_calls()

    async def close(self, seconds: float) -> None:
        """Waits at most `seconds` until all messages are sent. Then rejects the rest with QueueUnavailable."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._sending:
                    await asyncio.wait(self._sending)
        while self._waiting:
            self._pending.settle(self._waiting.popleft(), too_late("Closed", sent=False))
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        self._pending.close()

    def _expire(self, pending: PendingSend) -> None:
        """Rejects a message whose deadline has passed or is too close. A call that contains the message continues."""
        if not pending.in_call:
            # `remove` takes constant time, because the message with the earliest deadline is the first in `_waiting`.
            self._waiting.remove(pending)
            self._waiting_bytes -= pending.message.size
        self._pending.settle(pending, too_late("Timeout", sent=pending.in_call))

    def _may_call(self) -> bool:
        """Returns True if a slot is free, or if the messages fill a call and fewer than `_most_calls` are in flight."""
        if len(self._sending) < self._slots:
            return True
        full = len(self._waiting) >= MAX_ENTRIES or self._waiting_bytes > self._max_bytes
        return full and len(self._sending) < self._most_calls

    def _begin_calls(self) -> None:
        self._drop_late()
        while self._waiting and self._may_call():
            # A context of its own, because `on_settled` must not see the trace of the webhook that has begun the call.
            task = asyncio.create_task(self._send(self._take()), context=Context())
            self._sending.add(task)
            task.add_done_callback(self._free_slot)

    def _drop_late(self) -> None:
        """Rejects messages whose deadline is too close for a call to SQS (LEAST_SHARE).

        Otherwise, SQS could accept such a message after the service has rejected the webhook. Chargebee would send the
        webhook again, and the queue would contain the event twice.
        """
        while self._waiting and self._drop_if_late(self._waiting[0]):
            pass

    def _drop_if_late(self, pending: PendingSend) -> bool:
        """Rejects `pending` if its deadline is too close for a call to SQS. Returns whether it was late."""
        late = pending.deadline < asyncio.get_running_loop().time() + LEAST_SHARE * self._deadline
        if late:
            self._expire(pending)
        return late

    def _free_slot(self, task: "asyncio.Task[None]") -> None:
        self._sending.discard(task)
        self._begin_calls()

    def _take(self) -> list[PendingSend]:
        """Removes and returns the oldest waiting messages, as many as fit into one call."""
        batch: list[PendingSend] = []
        size = 0
        while self._waiting and len(batch) < MAX_ENTRIES:
            size += self._waiting[0].message.size
            if batch and size > self._max_bytes:
                break
            batch.append(self._waiting.popleft())
            batch[-1].in_call = True
        self._waiting_bytes -= sum(pending.message.size for pending in batch)
        return batch

    async def _send(self, batch: list[PendingSend]) -> None:
        """Sends `batch`, and settles each message, even after an unexpected exception."""
        try:
            for pending, outcome in zip(batch, await self._call(batch), strict=True):
                self._pending.settle(pending, outcome)
        except BatchRefused as refused:
            await self._send_parts(batch, refused)
        except WebhookRefused as error:
            self._pending.settle_all(batch, error)
        finally:
            self._pending.settle_all(batch, too_late("Cancelled", sent=True))  # has no effect on settled messages
            batch.clear()  # breaks a reference cycle of outcomes and tracebacks, as in `send`

    async def _call(self, batch: list[PendingSend]) -> list[WebhookRefused | None]:
        messages = [pending.message for pending in batch]
        latest = asyncio.get_running_loop().time() + self._deadline  # the deadline of a message that arrives now
        record = CallRecord(
            "SendMessageBatch",
            len(batch),
            sum(message.size for message in messages),
            [latest - pending.deadline for pending in batch],
            in_flight=len(self._sending),
            last=int(len(self._sending) == self._most_calls),
            traceparents=traceparents(messages),
        )
        try:
            return await self._queue.send_batch(messages, batch[-1].deadline, record)
        finally:
            record.ended = perf_counter()
            self._observe(record)

    async def _send_parts(self, batch: list[PendingSend], refused: BatchRefused) -> None:
        """Sends the messages of a rejected batch again: in halves if the batch is too long, otherwise one by one.

        Rejects the messages whose deadline is too close for another call, as `_drop_late` does.
        """
        if len(batch) == 1:
            self._pending.settle(batch[0], refusal(refused.cause, sent=False))
            return
        size = (len(batch) + 1) // 2 if refused.too_long else 1
        for start in range(0, len(batch), size):
            part = [pending for pending in batch[start : start + size] if not self._drop_if_late(pending)]
            if part:
                await self._send(part)


@asynccontextmanager
async def open_group_commit(
    queue: BatchQueue, limits: SendLimits, observe: ObserveCall = unobserved
) -> AsyncIterator[GroupCommit]:
    """Yields a GroupCommit on `queue`. On exit, sends the waiting messages. `observe` gets a record of each call."""
    group_commit = GroupCommit(queue, limits, observe)
    try:
        yield group_commit
    finally:
        await group_commit.close(limits.deadline)
