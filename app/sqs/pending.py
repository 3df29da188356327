"""The messages in group commit that have no outcome yet, each with its own deadline."""

import asyncio
from collections.abc import Callable, Iterable

from app.errors import QueueUnavailable, WebhookRefused
from app.sqs.message import Message

OnSettled = Callable[[WebhookRefused | None], None]


class PendingSend:
    """A message without an outcome. `deadline`: the latest time, on the event loop's clock, for the outcome."""

    __slots__ = ("deadline", "in_call", "message")

    def __init__(self, message: Message, deadline: float) -> None:
        self.message = message
        self.deadline = deadline
        self.in_call = False


class Pending:
    """Keeps the messages without an outcome, oldest first. Calls `expire` for each message whose deadline has passed.

    All messages have the same time-out, so their deadlines pass in the order of arrival, and one timer for the oldest
    message is enough. `settle` does not cancel the timer, even if the oldest message gets its outcome. When the timer
    fires, `_check` starts a new timer for the message that is then the oldest.
    """

    def __init__(self, expire: Callable[[PendingSend], None]) -> None:
        self._expire = expire
        self._sends: dict[PendingSend, OnSettled] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, pending: PendingSend, on_settled: OnSettled) -> None:
        self._sends[pending] = on_settled
        if self._timer is None:
            self._watch(pending)

    def settle(self, pending: PendingSend, refused: WebhookRefused | None) -> None:
        """Passes the outcome to `on_settled`: None after success, or the error. Does nothing after the first call."""
        if (on_settled := self._sends.pop(pending, None)) is not None:
            on_settled(refused)

    def settle_all(self, batch: Iterable[PendingSend], refused: WebhookRefused) -> None:
        for pending in batch:
            self.settle(pending, refused)

    def close(self) -> None:
        """Stops the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self, oldest: PendingSend) -> None:
        self._timer = asyncio.get_running_loop().call_at(oldest.deadline, self._check)

    def _check(self) -> None:
        now = asyncio.get_running_loop().time()
        try:
            while (oldest := next(iter(self._sends), None)) is not None and oldest.deadline <= now:
                self._expire(oldest)
        finally:  # even if an `on_settled` raises an exception, the other messages need the timer
            self._timer = None
            if (oldest := next(iter(self._sends), None)) is not None:
                self._watch(oldest)


def resolve(sent: "asyncio.Future[None]", refused: WebhookRefused | None) -> None:
    """Resolves the future that the caller of `GroupCommit.send` awaits, or rejects it with the error `refused`."""
    if sent.done():
        return  # the caller was cancelled
    if refused is None:
        sent.set_result(None)
    else:
        sent.set_exception(refused)
        sent.exception()  # marks the exception as retrieved, because a cancelled caller does not retrieve it


def too_late(cause: str, *, sent: bool) -> QueueUnavailable:
    return QueueUnavailable("SQS did not acknowledge the message in time; send this webhook again", cause, sent=sent)
