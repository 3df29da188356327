"""Moves dead letters back to the queue, by a task of SQS (StartMessageMoveTask) or one by one.

SQS's task cannot be limited to a number of messages. The task does not remove the attributes that contain the reason
for the dead letter, but the worker ignores these attributes. If the task fails, for example because a message is too
long for the queue, `move_one_by_one` moves the remaining messages.
"""

from collections import Counter
from typing import NamedTuple

from loguru import logger

from app.worker import move_task
from app.worker.consumed_queue import MAX_ENTRIES, ConsumedQueue
from app.worker.dead_letters import REASON
from app.worker.move_task import Progress
from app.worker.one_by_one import Redriven, move_one_by_one, received, visible


class DeadLetterCounts(NamedTuple):
    """The number of dead letters for each reason. `not_counted`: the number of dead letters that were not received."""

    by_reason: dict[str, int]
    not_counted: int


async def count_by_reason(dead: ConsumedQueue, limit: int | None) -> DeadLetterCounts:
    """Counts the dead letters that a redrive with `limit` would move.

    Receives each message once, which counts towards maxReceiveCount, and makes all of them visible again afterwards.
    """
    total = await visible(dead)
    seen = [message async for messages in received(dead, min(total, limit or total)) for message in messages]
    for start in range(0, len(seen), MAX_ENTRIES):
        await dead.change_visibility([(message.receipt_handle, 0) for message in seen[start : start + MAX_ENTRIES]])
    reasons = Counter(message.text(REASON) or "moved by SQS after maxReceiveCount" for message in seen)
    return DeadLetterCounts(dict(reasons.most_common()), max(total - len(seen), 0))


async def redrive(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None, progress: Progress) -> Redriven:
    """Moves at most `limit` messages, or all messages if `limit` is None.

    Raises CommandFailed if a person has cancelled SQS's task, and the client's error if a call fails. But an error that
    occurs while `move_one_by_one` moves messages is not raised: the result contains this error.
    """
    by_task = 0
    if limit is None and (source := await move_task.start(queue, dead)):
        by_task, failure = await move_task.follow(dead, source, progress)
        if failure is None:
            return Redriven(by_task)
        logger.warning("SQS's move task has failed ({}): the other messages are moved one by one", failure)
    result = await move_one_by_one(queue, dead, limit, progress)
    result.moved += by_task
    return result
