"""Defines a message that waits in group commit until SQS has acknowledged it."""

import asyncio

from app.errors import QueueUnavailable, WebhookRefused
from app.sqs.message import Message


class PendingSend:
    """A message whose caller waits for the future `sent`. `deadline` is a time of the event loop's clock.

    `in_call` is True when a call to SQS contains the message.
    """

    __slots__ = ("deadline", "expiry", "in_call", "message", "sent")

    def __init__(self, message: Message, timeout: float) -> None:
        loop = asyncio.get_running_loop()
        self.message = message
        self.sent: asyncio.Future[None] = loop.create_future()
        self.deadline = loop.time() + timeout
        self.expiry: asyncio.TimerHandle | None = None
        self.in_call = False

    def resolve(self, refused: WebhookRefused | None) -> None:
        """Resolves the caller's future, or rejects the future with `refused`. Later calls have no effect."""
        if self.expiry is not None:
            self.expiry.cancel()  # also needed if the caller was cancelled and no longer waits
        if self.sent.done():
            return
        if refused is None:
            self.sent.set_result(None)
        else:
            self.sent.set_exception(refused)
            self.sent.exception()  # marks the exception as retrieved, which a cancelled caller never does


def reject_all(batch: list[PendingSend], error: WebhookRefused) -> None:
    """Rejects with `error` the futures of `batch` that have no result yet."""
    for pending in batch:
        pending.resolve(error)


def too_late(cause: str, *, sent: bool) -> QueueUnavailable:
    return QueueUnavailable("SQS did not acknowledge the message in time; send this webhook again", cause, sent=sent)
