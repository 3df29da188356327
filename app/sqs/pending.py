"""One message that waits in group commit, with its own deadline."""

import asyncio

from app.errors import QueueUnavailable, WebhookRefused
from app.sqs.message import Message


class PendingSend:
    """One call of `send`, which ends at the latest at `deadline`, a time of the event loop's clock."""

    __slots__ = ("deadline", "expiry", "in_call", "message", "sent")

    def __init__(self, message: Message, timeout: float) -> None:
        loop = asyncio.get_running_loop()
        self.message = message
        self.sent: asyncio.Future[None] = loop.create_future()
        self.deadline = loop.time() + timeout
        self.expiry: asyncio.TimerHandle | None = None
        self.in_call = False

    def resolve(self, refused: WebhookRefused | None) -> None:
        """Resolves the caller's future, or rejects it with `refused`; later calls have no effect."""
        if self.expiry is not None:
            self.expiry.cancel()  # even if the caller was cancelled and no longer waits
        if self.sent.done():
            return
        if refused is None:
            self.sent.set_result(None)
        else:
            self.sent.set_exception(refused)
            self.sent.exception()  # marks it as retrieved, because a cancelled caller never retrieves it


def reject_all(batch: list[PendingSend], error: WebhookRefused) -> None:
    """Rejects the sends that are not resolved yet."""
    for pending in batch:
        pending.resolve(error)


def too_late(cause: str, *, sent: bool) -> QueueUnavailable:
    return QueueUnavailable("The webhook was not sent in time; send it again", cause, sent=sent)
