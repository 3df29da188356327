"""One message in flight, and its states."""

import asyncio
from enum import Enum

from app.worker.received_message import ReceivedMessage


class MessageState(Enum):
    """The states of a message. The usual order is WAITING → WORKING → DELETING → GONE.

    A WAITING or WORKING message becomes LOST if another worker may have it, and GONE if this worker releases it or
    gives it up.
    """

    WAITING = "waits for a task"
    WORKING = "a task processes it"
    DELETING = "a delete has begun, so SQS may reject an extension because the message no longer exists"
    LOST = "another worker may have it"
    GONE = "is deleted or released, or has no heartbeat any more"


class InFlightMessage:
    """A message from its receive until it is deleted, released or lost. Times are in seconds of the event loop's clock.

    `hidden_until`: the end of the last visibility timeout that SQS has confirmed. `task`: the task that processes the
    message, or None if no task has begun.
    """

    def __init__(self, received: ReceivedMessage, visibility: float) -> None:
        self.receive(received, visibility)
        self.state = MessageState.WAITING
        self.task: asyncio.Task[None] | None = None

    def receive(self, received: ReceivedMessage, visibility: float) -> None:
        """Stores the data of the newest receive, because the receipt handles of earlier receives may be invalid."""
        self.received = received
        self.received_at = asyncio.get_running_loop().time()
        self.hidden_until = self.received_at + visibility

    def become(self, state: MessageState, task: "asyncio.Task[None] | None" = None) -> None:
        """Changes the state. Only InFlight calls this method. `task`: the task that begins to process the message."""
        self.state, self.task = state, task or self.task

    def age(self) -> float:
        """Returns the seconds since the last receive."""
        return asyncio.get_running_loop().time() - self.received_at

    def is_hidden(self) -> bool:
        return asyncio.get_running_loop().time() < self.hidden_until

    def extend(self, began: float, seconds: float) -> None:
        """Stores that SQS hides the message for `seconds` after `began`, the start of the call to SQS."""
        self.hidden_until = began + seconds
