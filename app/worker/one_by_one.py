"""Moves dead letters back to the queue one by one, and continues after a dead letter that cannot be moved.

Each message is sent without the attributes that contain the reason, and then its dead letter is deleted. A failure in
between may duplicate a message, but never loses a message.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from app.errors import QueueUnavailable
from app.sqs.failures import code_of
from app.sqs.queue import batch_refused
from app.worker.consumed_queue import MAX_ENTRIES, ConsumedQueue
from app.worker.dead_letters import EVENT_ID, REASON_ATTRIBUTES, parameters
from app.worker.move_task import Progress
from app.worker.received_message import ReceivedMessage

VISIBILITY_SECONDS = 120
# Each receive is a long poll of this many seconds, because a short poll may return nothing although the queue has
# messages:
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
WAIT_SECONDS = 2
# The redrive ends after this many failures in a row that are not the fault of a message, because the remaining messages
# would fail as well.
OUTAGE = 3


@dataclass
class Redriven:
    """The result of a redrive. `moved`: the number of moved messages.

    `failed`: why a message was not sent, or why its dead letter was not deleted; the key is a text with the ids of the
    event and the message. `error`: what ended the redrive early, or None.
    """

    moved: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    error: Exception | None = None


async def move_one_by_one(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None, progress: Progress) -> Redriven:
    """Moves at most `limit` messages, and continues after a message that cannot be moved.

    Tries at most as many messages as `dead` contains at the start. Otherwise, the redrive might never end,
    because a running worker may dead-letter the moved messages again.
    """
    move = _Move(queue, dead)
    try:
        total = await visible(dead)
        async for messages in received(dead, min(total, limit or total)):
            await move.move(messages)
            progress(move.result.moved, min(total, limit or total))
    except Exception as error:
        move.result.error = error
    await move.show_again()
    return move.result


class _Move:
    """Moves dead letters, and counts them in `result`."""

    def __init__(self, queue: ConsumedQueue, dead: ConsumedQueue) -> None:
        self.result = Redriven()
        self._queue, self._dead = queue, dead
        self._hidden: list[str] = []  # the receipt handles of the dead letters that could not be sent
        self._in_a_row = 0  # the number of failures in a row that the dead letters did not cause
        self._code = ""  # the error code of the last failure

    async def move(self, messages: Sequence[ReceivedMessage]) -> None:
        """Sends the messages, and deletes the sent ones. Raises QueueUnavailable after OUTAGE failures in a row."""
        codes = await self._send(messages)
        sent = [message for message, code in zip(messages, codes, strict=True) if code is None]
        for message, code in zip(messages, codes, strict=True):
            if code is not None:
                self._hidden.append(message.receipt_handle)
                self._fail(message, "SQS refuses it", code)
        for message, code in zip(sent, await self._delete(sent), strict=True):
            if code is None:
                self.result.moved += 1
                self._in_a_row = 0
            else:
                self._fail(message, "it was sent, but the dead letter could not be deleted", code)
        if self._in_a_row >= OUTAGE:
            raise QueueUnavailable("SQS refuses one dead letter after the other", self._code)

    async def show_again(self) -> None:
        """Ends the visibility timeouts of the dead letters whose messages could not be sent. Ignores failures."""
        with suppress(Exception):
            for start in range(0, len(self._hidden), MAX_ENTRIES):
                await self._dead.change_visibility([(one, 0) for one in self._hidden[start : start + MAX_ENTRIES]])

    async def _send(self, messages: Sequence[ReceivedMessage]) -> list[str | None]:
        """Sends the messages, in order if the queue is FIFO. Returns an error code, or None, for each message."""
        if self._queue.fifo:
            return [await self._send_one(message) for message in messages]
        return await asyncio.gather(*map(self._send_one, messages))

    async def _send_one(self, message: ReceivedMessage) -> str | None:
        try:
            await self._queue.send(redriven(message, fifo=self._queue.fifo))
        except Exception as error:
            return code_of(error)
        return None

    async def _delete(self, messages: Sequence[ReceivedMessage]) -> list[str | None]:
        """Deletes at most ten dead letters. Returns an error code, or None, for each message."""
        try:
            failures = await self._dead.delete([message.receipt_handle for message in messages]) if messages else []
        except Exception as error:
            return [code_of(error)] * len(messages)
        return [None if failure is None else failure.code for failure in failures]

    def _fail(self, message: ReceivedMessage, what: str, code: str) -> None:
        name = f"{message.text(EVENT_ID) or 'no event id'}, message {message.message_id}"
        self.result.failed[name] = f"{what}: {code}"
        self._in_a_row += batch_refused(code) is None
        self._code = code


def redriven(message: ReceivedMessage, *, fifo: bool) -> dict[str, Any]:
    """Returns the parameters of SendMessage for the original message, without the attributes that contain the reason.

    On a FIFO queue, the deduplication id is the dead letter's message id, so SQS drops a repeated redrive of the same
    dead letter. The event's id is not used, because it was the deduplication id of the original message: SQS would
    drop a second message with this id within five minutes.
    """
    attributes = {name: value for name, value in message.attributes.items() if name not in REASON_ATTRIBUTES}
    return parameters(message, attributes, fifo=fifo)


async def received(dead: ConsumedQueue, number: int) -> AsyncIterator[list[ReceivedMessage]]:
    """Yields a list of messages for each receive, until `number` messages are received or the queue is empty.

    A message that was not moved is visible again after VISIBILITY_SECONDS, but is not yielded a second time.
    """
    seen: set[str] = set()
    while len(seen) < number:
        messages = await dead.receive(min(number - len(seen), MAX_ENTRIES), VISIBILITY_SECONDS, WAIT_SECONDS)
        if not messages:
            return
        yield [message for message in messages if message.message_id not in seen]
        seen.update(message.message_id for message in messages)


async def visible(queue: ConsumedQueue) -> int:
    return int((await queue.attributes("ApproximateNumberOfMessages"))["ApproximateNumberOfMessages"])
