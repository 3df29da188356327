"""A caller of group commit, with a deadline of its own."""

import asyncio

from app.errors import QueueUnavailable, WebhookRefused
from app.sqs.message import Message


class Waiting:
    """One call of `send`, until `deadline` of the loop's clock."""

    __slots__ = ("deadline", "expiry", "in_call", "message", "sent")

    def __init__(self, message: Message, timeout: float) -> None:
        loop = asyncio.get_running_loop()
        self.message = message
        self.sent: asyncio.Future[None] = loop.create_future()
        self.deadline = loop.time() + timeout
        self.expiry: asyncio.TimerHandle | None = None
        self.in_call = False

    def settle(self, refused: WebhookRefused | None) -> None:
        """Ends the caller's wait; later calls have no effect."""
        if self.expiry is not None:
            self.expiry.cancel()  # also of a caller that was cancelled: its wait has ended already
        if self.sent.done():
            return
        if refused is None:
            self.sent.set_result(None)
        else:
            self.sent.set_exception(refused)
            self.sent.exception()  # marks it as retrieved: a cancelled caller never will


def settle_all(batch: list[Waiting], error: WebhookRefused) -> None:
    """Ends the waits that have not ended yet."""
    for waiting in batch:
        waiting.settle(error)


def too_late(cause: str, *, sent: bool) -> QueueUnavailable:
    return QueueUnavailable("The webhook was not sent in time; send it again", cause, sent=sent)
