"""SQS's own task that moves all messages of a dead-letter queue (StartMessageMoveTask)."""

import asyncio
from collections.abc import Callable

from botocore.exceptions import ClientError

from app.errors import CommandFailed
from app.worker.consumed_queue import ConsumedQueue

TASK_SECONDS = 2.0  # seconds between two requests for the status of SQS's task
MAX_MOVED_PER_SECOND = 500  # the highest rate that StartMessageMoveTask accepts

# The error codes that emulators return for StartMessageMoveTask if they do not have this action.
NO_TASK = ("UnsupportedOperation", "InvalidAction", "UnknownOperation", "ResourceNotFoundException", "404", "501")
# SQS's error message if the source is no queue's dead-letter queue. The code, InvalidParameterValue, also means that
# a task is already running, so only the message shows the reason. LocalStack recorded both messages from AWS:
# https://github.com/localstack/localstack/blob/11c332e/tests/aws/services/sqs/test_sqs_move_task.snapshot.json
NO_DEAD_LETTER_QUEUE = "Source queue must be configured as a Dead Letter Queue"
Progress = Callable[[int, int], None]
"""A function that receives the number of messages moved so far, and the number of messages to move in all."""


async def start(queue: ConsumedQueue, dead: ConsumedQueue) -> str | None:
    """Starts SQS's message move task, and returns the ARN of `dead`.

    Returns None if an emulator has no message move tasks, or if `dead` is not the dead-letter queue of any queue.
    """
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


async def follow(dead: ConsumedQueue, source: str, progress: Progress) -> tuple[int, str | None]:
    """Waits until SQS's message move task ends. Returns the number of moved messages, and the reason for a failure.

    The reason is None if the task has succeeded. Raises CommandFailed if a person has cancelled the task.
    """
    while True:
        task = await dead.last_move(source)
        moved = int(task.get("ApproximateNumberOfMessagesMoved", 0))
        progress(moved, int(task.get("ApproximateNumberOfMessagesToMove") or moved))
        match task.get("Status"):
            case "COMPLETED":
                return moved, None
            case "FAILED":
                return moved, str(task.get("FailureReason") or "no reason given")
            case "CANCELLED":
                raise CommandFailed(f"{dead.name}: SQS's move task was cancelled after {moved:,} messages")
        await asyncio.sleep(TASK_SECONDS)
