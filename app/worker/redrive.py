"""Brings dead letters back to the queue: as a task of SQS (StartMessageMoveTask), or by hand where there is none.

By hand each message is sent first and deleted after, so that a failure in between doubles it and loses nothing; the
reason's attributes are removed. SQS's own task leaves them, which the worker does not mind, and takes no limit.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from app.errors import ConfigurationError
from app.worker.dead_letters import OURS, REASON, parameters
from app.worker.queue import MOST_ENTRIES, ConsumedQueue
from app.worker.received import Received

VISIBILITY_SECONDS = 120
# A queue may answer a short poll with nothing though it has messages: https://docs.aws.amazon.com/AWSSimpleQueueService
# /latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
WAIT_SECONDS = 2
TASK_SECONDS = 2.0  # between two looks at a task
MOVED_A_SECOND = 500  # SQS's highest
# What emulators answer to an operation that they do not have, and SQS where the queue is nobody's dead-letter queue.
NO_TASK = ("UnsupportedOperation", "InvalidAction", "UnknownOperation", "ResourceNotFoundException", "404", "501")
Progress = Callable[[int, int], None]
"""Messages moved, and messages to move."""


class Found(NamedTuple):
    """What a look at the dead letters has found. `reasons`: how many of each; `more`: not looked at."""

    reasons: dict[str, int]
    more: int


async def look(dead: ConsumedQueue, limit: int | None) -> Found:
    """What would be moved. Each message is received once, which counts, and handed back at the end."""
    total = await _waiting(dead)
    seen = [message async for messages in _received(dead, min(total, limit or total)) for message in messages]
    for start in range(0, len(seen), MOST_ENTRIES):
        await dead.change([(message.receipt, 0) for message in seen[start : start + MOST_ENTRIES]])
    reasons = Counter(message.text(REASON) or "moved by the queue" for message in seen)
    return Found(dict(reasons.most_common()), max(total - len(seen), 0))


async def redrive(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None, progress: Progress) -> int:
    """How many were moved; at most `limit`. Raises the client's errors, ConfigurationError where a task fails."""
    if limit is None and (started := await _start(queue, dead)):
        return await _follow(dead, started, progress)
    return await by_hand(queue, dead, limit, progress)


async def by_hand(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None, progress: Progress) -> int:
    """Moves what is there now: a worker that runs may send the same messages back meanwhile."""
    total = await _waiting(dead)
    total = min(total, limit or total)
    moved = 0
    async for messages in _received(dead, total):
        if queue.fifo:
            for message in messages:
                await queue.send(redriven(message, fifo=True))
        else:
            await asyncio.gather(*(queue.send(redriven(message, fifo=False)) for message in messages))
        refusals = await dead.delete([message.receipt for message in messages])
        moved += sum(refusal is None for refusal in refusals)
        progress(moved, total)
    return moved


def redriven(message: Received, *, fifo: bool) -> dict[str, Any]:
    """Returns the parameters of SendMessage: what was sent at first, without the reason.

    Its deduplication id is new, since SQS would drop the event's own for five minutes; a repeat of ours is dropped.
    """
    return parameters(
        message, {name: value for name, value in message.attributes.items() if name not in OURS}, fifo=fifo
    )


async def _received(dead: ConsumedQueue, number: int) -> AsyncIterator[list[Received]]:
    """Yields what it receives, until there were `number` messages, or there is nothing."""
    left = number
    while left > 0 and (messages := await dead.receive(min(left, MOST_ENTRIES), VISIBILITY_SECONDS, WAIT_SECONDS)):
        yield messages
        left -= len(messages)


async def _waiting(queue: ConsumedQueue) -> int:
    return int((await queue.attributes("ApproximateNumberOfMessages"))["ApproximateNumberOfMessages"])


async def _start(queue: ConsumedQueue, dead: ConsumedQueue) -> str | None:
    """Starts a task, and returns the dead-letter queue's ARN; None where there are no tasks."""
    source = (await dead.attributes("QueueArn"))["QueueArn"]
    destination = (await queue.attributes("QueueArn"))["QueueArn"]
    try:
        await dead.start_move(source, destination, MOVED_A_SECOND)
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code.rpartition(".")[2] in NO_TASK:
            return None
        raise
    return source


async def _follow(dead: ConsumedQueue, source: str, progress: Progress) -> int:
    """Until the task has ended, as far as SQS says."""
    while True:
        task = await dead.last_move(source)
        moved = int(task.get("ApproximateNumberOfMessagesMoved", 0))
        progress(moved, int(task.get("ApproximateNumberOfMessagesToMove") or moved))
        match task.get("Status"):
            case "COMPLETED":
                return moved
            case "FAILED" | "CANCELLED" as status:
                raise ConfigurationError(f"{dead.name}: the task has {status}: {task.get('FailureReason', '')}")
        await asyncio.sleep(TASK_SECONDS)
