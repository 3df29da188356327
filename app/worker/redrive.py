"""Moves dead letters back to the queue, by a task of SQS (StartMessageMoveTask) or one by one.

`move_one_by_one` sends each message without the attributes that contain the reason, and then deletes the dead letter. A
failure in between may duplicate a message, but never loses one. SQS's task cannot be limited to a number of messages.
It keeps the attributes that contain the reason, which the worker ignores.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from app.errors import ConfigurationError
from app.worker.consumed_queue import MAX_ENTRIES, ConsumedQueue
from app.worker.dead_letters import REASON, REASON_ATTRIBUTES, parameters
from app.worker.received_message import ReceivedMessage

VISIBILITY_SECONDS = 120
# Each receive is a long poll of this many seconds, because a short poll may return nothing although the queue has
# messages:
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
WAIT_SECONDS = 2
TASK_SECONDS = 2.0  # seconds between two requests for the status of SQS's task
MAX_MOVED_PER_SECOND = 500  # messages; the highest rate that StartMessageMoveTask accepts

# With these error codes of StartMessageMoveTask, the task is not available, because emulators do not have it.
NO_TASK = ("UnsupportedOperation", "InvalidAction", "UnknownOperation", "ResourceNotFoundException", "404", "501")
# SQS also rejects a source that is not the dead-letter queue of any queue. The code is InvalidParameterValue, as for a
# task that already runs, so the message decides. LocalStack recorded both messages from AWS:
# https://github.com/localstack/localstack/blob/11c332e/tests/aws/services/sqs/test_sqs_move_task.snapshot.json
NO_DEAD_LETTER_QUEUE = "Source queue must be configured as a Dead Letter Queue"
Progress = Callable[[int, int], None]
"""A function that receives the number of messages moved so far, and the number of messages to move in all."""


class DeadLetterCounts(NamedTuple):
    """The number of dead letters for each reason. `not_counted`: the number of dead letters that were not received."""

    by_reason: dict[str, int]
    not_counted: int


async def count_by_reason(dead: ConsumedQueue, limit: int | None) -> DeadLetterCounts:
    """Counts the dead letters that a redrive with `limit` would move.

    Receives each message once, which counts towards maxReceiveCount, and makes all of them visible again afterwards.
    """
    total = await _visible(dead)
    seen = [message async for messages in _received(dead, min(total, limit or total)) for message in messages]
    for start in range(0, len(seen), MAX_ENTRIES):
        await dead.change_visibility([(message.receipt_handle, 0) for message in seen[start : start + MAX_ENTRIES]])
    reasons = Counter(message.text(REASON) or "moved by SQS after maxReceiveCount" for message in seen)
    return DeadLetterCounts(dict(reasons.most_common()), max(total - len(seen), 0))


async def redrive(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None, progress: Progress) -> int:
    """Moves at most `limit` messages (None: all messages) and returns the number of messages moved.

    Raises ConfigurationError and the client's errors.
    """
    if limit is None and (started := await _start(queue, dead)):
        return await _follow(dead, started, progress)
    return await move_one_by_one(queue, dead, limit, progress)


async def move_one_by_one(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None, progress: Progress) -> int:
    """Moves at most `limit` messages, and returns the number of messages moved.

    Moves no more messages than `dead` contains at the start, because a running worker may dead-letter some again.
    """
    total = await _visible(dead)
    total = min(total, limit or total)
    moved = 0
    async for messages in _received(dead, total):
        if queue.fifo:
            for message in messages:
                await queue.send(redriven(message, fifo=True))
        else:
            await asyncio.gather(*(queue.send(redriven(message, fifo=False)) for message in messages))
        failures = await dead.delete([message.receipt_handle for message in messages])
        moved += sum(failed is None for failed in failures)
        progress(moved, total)
    return moved


def redriven(message: ReceivedMessage, *, fifo: bool) -> dict[str, Any]:
    """Returns the parameters of SendMessage for the original message, without the attributes that contain the reason.

    On a FIFO queue, the deduplication id is the dead letter's message id, so SQS drops a repeated redrive of the same
    dead letter. With the event's id, SQS would drop a message that is sent less than five minutes after the webhook.
    """
    return parameters(
        message, {name: value for name, value in message.attributes.items() if name not in REASON_ATTRIBUTES}, fifo=fifo
    )


async def _received(dead: ConsumedQueue, number: int) -> AsyncIterator[list[ReceivedMessage]]:
    """Yields the messages of each receive, until `number` messages are received or the queue is empty."""
    left = number
    while left > 0 and (messages := await dead.receive(min(left, MAX_ENTRIES), VISIBILITY_SECONDS, WAIT_SECONDS)):
        yield messages
        left -= len(messages)


async def _visible(queue: ConsumedQueue) -> int:
    return int((await queue.attributes("ApproximateNumberOfMessages"))["ApproximateNumberOfMessages"])


async def _start(queue: ConsumedQueue, dead: ConsumedQueue) -> str | None:
    """Starts a task of SQS and returns the dead-letter queue's ARN, or None if such a task is not possible."""
    source = (await dead.attributes("QueueArn"))["QueueArn"]
    destination = (await queue.attributes("QueueArn"))["QueueArn"]
    try:
        await dead.start_move(source, destination, MAX_MOVED_PER_SECOND)
    except ClientError as error:
        found = error.response.get("Error", {})
        code, message = str(found.get("Code", "")), str(found.get("Message", ""))
        if code.rpartition(".")[2] in NO_TASK or NO_DEAD_LETTER_QUEUE in message:
            return None
        raise
    return source


async def _follow(dead: ConsumedQueue, source: str, progress: Progress) -> int:
    """Waits until SQS's task ends, and returns the number of moved messages. Raises ConfigurationError if it fails."""
    while True:
        task = await dead.last_move(source)
        moved = int(task.get("ApproximateNumberOfMessagesMoved", 0))
        progress(moved, int(task.get("ApproximateNumberOfMessagesToMove") or moved))
        match task.get("Status"):
            case "COMPLETED":
                return moved
            case "FAILED" | "CANCELLED" as status:
                raise ConfigurationError(f"{dead.name}: SQS's move task is {status}: {task.get('FailureReason', '')}")
        await asyncio.sleep(TASK_SECONDS)
