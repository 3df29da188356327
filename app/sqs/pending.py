"""The messages in group commit that have no outcome yet, each with its own deadline."""

import asyncio
from collections.abc import Callable, Iterable

from app.errors import QueueUnavailable, WebhookRefused
from app.sqs.message import Message

OnSettled = Callable[[WebhookRefused | None], None]


class PendingSend:
    """One message. `deadline`: the latest time, on the event loop's clock, at which the message gets its outcome."""

    __slots__ = ("deadline", "in_call", "message")

    def __init__(self, message: Message, deadline: float) -> None:
        self.message = message
        self.deadline = deadline
        self.in_call = False


class Pending:
    """The sends without an outcome, oldest first. `expire` is called for each send whose deadline has passed.

    All sends have the same time-out, so the deadlines pass in the order of arrival. One timer, for the oldest send, is
    enough. The timer is not cancelled when a send gets its outcome. When the timer fires, `_check` starts the next
    timer, for the oldest send.
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
        """Passes the outcome of a send to its caller: None after success, or the error. Later calls have no effect."""
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
        finally:  # even if a caller raises an exception, the other messages need the timer
            self._timer = None
            if (oldest := next(iter(self._sends), None)) is not None:
                self._watch(oldest)


def resolve(sent: "asyncio.Future[None]", refused: WebhookRefused | None) -> None:
    """Resolves the future of a caller that awaits its send, or rejects it with `refused`."""
    if sent.done():
        return  # the caller was cancelled
    if refused is None:
        sent.set_result(None)
    else:
        sent.set_exception(refused)
        sent.exception()  # marks the exception as retrieved, because a cancelled caller does not retrieve it


def too_late(cause: str, *, sent: bool) -> QueueUnavailable:
    return QueueUnavailable("SQS did not acknowledge the message in time; send this webhook again", cause, sent=sent)
