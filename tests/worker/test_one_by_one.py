"""Which dead letters are moved, deleted and counted if calls to SQS fail."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app.errors import QueueUnavailable
from app.worker.consumed_queue import FailedEntry
from app.worker.one_by_one import Redriven, move_one_by_one
from app.worker.received_message import ReceivedMessage

pytestmark = pytest.mark.anyio
REFUSED = "InvalidParameterValue"


class Failed(Exception):
    """An error of the client, whose code is its class's name."""


class Queues:
    """Stands for both queues, with dead letters whose bodies are numbers.

    `failing` returns True if the message with this body cannot be sent. `undeletable`: those that cannot be deleted.
    """

    name, fifo = "dead", False

    def __init__(self, number: int, failing: Callable[[str], bool] = lambda body: False) -> None:
        self.letters = [ReceivedMessage(str(at), f"handle {at}", str(at), {}) for at in range(number)]
        self.failing, self.undeletable = failing, set[str]()
        self.sent: list[str] = []
        self.deleted: list[str] = []
        self.shown: list[str] = []
        self.receives: list[list[ReceivedMessage]] | None = None

    async def attributes(self, *names: str) -> dict[str, str]:
        return {"ApproximateNumberOfMessages": str(len(self.letters))}

    async def receive(self, most: int, visibility: int, wait: int) -> list[ReceivedMessage]:
        if self.receives is not None:
            return self.receives.pop(0) if self.receives else []
        received, self.letters = self.letters[:most], self.letters[most:]
        return received

    async def send(self, parameters: Mapping[str, Any]) -> None:
        body = parameters["MessageBody"]
        if self.failing(body):
            raise Failed
        self.sent.append(body)

    async def delete(self, handles: list[str]) -> list[FailedEntry | None]:
        if "all" in self.undeletable:
            raise Failed
        gone = [handle for handle in handles if handle not in self.undeletable]
        self.deleted += gone
        return [None if handle in gone else FailedEntry("ReceiptHandleIsInvalid", final=True) for handle in handles]

    async def change_visibility(self, changes: list[tuple[str, int]]) -> None:
        self.shown += [handle for handle, seconds in changes if seconds == 0]


async def _move(queues: Queues) -> Redriven:
    either: Any = queues
    return await move_one_by_one(either, either, None, lambda moved, total: None)


async def test_a_dead_letter_that_was_not_sent_is_not_deleted() -> None:
    """It is visible again at once, and the others are moved."""
    queues = Queues(25, lambda body: body == "7")
    result = await _move(queues)
    assert (result.moved, result.failed, result.error) == (
        24,
        {"no event id, message 7": "SQS refuses it: Failed"},
        None,
    )
    assert "handle 7" not in queues.deleted
    assert queues.shown == ["handle 7"]


@pytest.mark.parametrize("fifo", [False, True])
async def test_an_outage_ends_the_redrive(fifo: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the receive in which one send after the other has failed, the command tries no further dead letter."""
    monkeypatch.setattr(Queues, "fifo", fifo)
    queues = Queues(25, lambda body: int(body) >= 2)
    result = await _move(queues)
    assert (result.moved, len(result.failed)) == (2, 18)  # a success in a receive counts for the whole receive
    assert isinstance(result.error, QueueUnavailable)
    assert queues.deleted == ["handle 0", "handle 1"]


async def test_messages_that_cannot_be_deleted_are_named() -> None:
    """Each of them was sent, so the next redrive would send it again; if that happens to all of them, it ends."""
    queues = Queues(25)
    queues.undeletable = {"handle 3"}
    result = await _move(queues)
    cause = "it was sent, but the dead letter could not be deleted"
    assert result.failed == {"no event id, message 3": f"{cause}: ReceiptHandleIsInvalid"}
    assert (result.moved, result.error, queues.shown) == (24, None, [])
    queues = Queues(25)
    queues.undeletable = {"all"}
    result = await _move(queues)
    assert set(result.failed.values()) == {f"{cause}: Failed"}
    assert (len(result.failed), isinstance(result.error, QueueUnavailable)) == (10, True)


async def test_a_dead_letter_is_tried_once() -> None:
    """A long redrive receives a dead letter again that it could not move, and does not count it as a further one."""
    queues = Queues(3, lambda body: body == "0")
    first, second, third = queues.letters
    queues.receives = [[first], [first, second], [first], [third]]
    result = await _move(queues)
    assert (result.moved, list(result.failed), queues.sent) == (2, ["no event id, message 0"], ["1", "2"])


async def test_a_receive_that_fails_does_not_hide_what_was_moved() -> None:
    """The result has the number of messages that were moved before, and the error."""
    queues = Queues(25)
    first, queues.receives = queues.letters[:10], []

    async def receive(most: int, visibility: int, wait: int) -> list[ReceivedMessage]:
        if queues.sent:
            raise Failed
        return first

    queues.receive = receive  # type: ignore[method-assign]  # a queue that fails later
    result = await _move(queues)
    assert (result.moved, type(result.error)) == (10, Failed)
