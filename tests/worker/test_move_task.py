"""A redrive by a task of SQS. ministack has no such tasks, so a class of this module stands in for the queues."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from app.errors import CommandFailed
from app.worker import move_task as module
from app.worker.dead_letter_moves import redrive

pytestmark = pytest.mark.anyio


class Moving:
    """Stands for both queues; `tasks` are the answers to ListMessageMoveTasks, `refusal` that to the start."""

    name, fifo = "dead", False

    def __init__(self, tasks: list[dict[str, Any]], refusal: str | None = None, message: str = "") -> None:
        self.tasks, self.refusal, self.message = tasks, refusal, message
        self.received = 0

    async def attributes(self, *names: str) -> dict[str, str]:
        return {"QueueArn": "arn", "ApproximateNumberOfMessages": "2"}

    async def start_move(self, source: str, destination: str, most: int) -> None:
        if self.refusal is not None:
            raise ClientError({"Error": {"Code": self.refusal, "Message": self.message}}, "StartMessageMoveTask")

    async def last_move(self, source: str) -> dict[str, Any]:
        return self.tasks.pop(0)

    async def receive(self, most: int, visibility: int, wait: int) -> list[Any]:
        self.received += 1
        return []


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TASK_SECONDS", 0)


async def _redrive(queue: Any, limit: int | None = None) -> tuple[int, list[tuple[int, int]]]:
    seen: list[tuple[int, int]] = []
    result = await redrive(queue, queue, limit, lambda moved, total: seen.append((moved, total)))
    assert (result.failed, result.error) == ({}, None)
    return result.moved, seen


async def test_its_progress_is_followed_to_the_end() -> None:
    running = {"Status": "RUNNING", "ApproximateNumberOfMessagesMoved": 3, "ApproximateNumberOfMessagesToMove": 7}
    completed = running | {"Status": "COMPLETED", "ApproximateNumberOfMessagesMoved": 7}
    queue = Moving([running, completed])
    assert await _redrive(queue) == (7, [(3, 7), (7, 7)])
    assert queue.received == 0


async def test_the_messages_behind_one_that_the_task_cannot_move() -> None:
    """If the task fails, the rest is moved one by one, which names each message that cannot be moved."""
    failed = {"Status": "FAILED", "ApproximateNumberOfMessagesMoved": 1, "FailureReason": "InvalidParameterValue"}
    queue = Moving([failed])
    assert (await _redrive(queue))[0] == 1
    assert queue.received == 1


async def test_a_task_that_a_person_has_cancelled() -> None:
    """The command ends, because the person does not want the rest to be moved."""
    queue = Moving([{"Status": "CANCELLED", "ApproximateNumberOfMessagesMoved": 1}])
    with pytest.raises(CommandFailed, match="cancelled after 1 messages"):
        await _redrive(queue)
    assert queue.received == 0


@pytest.mark.parametrize("code", ["AWS.SimpleQueueService.UnsupportedOperation", "InvalidAction"])
async def test_without_tasks_it_is_done_by_hand(code: str) -> None:
    queue = Moving([], code)
    assert await _redrive(queue) == (0, [])
    assert queue.received == 1


async def test_a_source_that_no_queue_names_is_moved_by_hand() -> None:
    """SQS's task takes only a queue that the redrive policy of another queue names."""
    queue = Moving([], "InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
    assert await _redrive(queue) == (0, [])
    assert queue.received == 1


async def test_beside_a_running_task_nothing_is_moved_by_hand() -> None:
    """SQS rejects a second task for the same source with the same code."""
    running = "There is already a task running. Only one active task is allowed for a source queue arn at a given time."
    queue = Moving([], "InvalidParameterValue", running)
    with pytest.raises(ClientError, match="already a task running"):
        await _redrive(queue)
    assert queue.received == 0


async def test_another_error_is_not_hidden() -> None:
    with pytest.raises(ClientError):
        await _redrive(Moving([], "AccessDenied"))


async def test_a_limit_is_by_hand() -> None:
    queue = Moving([])
    await _redrive(queue, 1)
    assert queue.received == 1
