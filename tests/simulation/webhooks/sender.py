"""The sender of webhooks, and what the sender knows about the answers."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.simulation.webhooks.connection import Connection
from tests.simulation.webhooks.invariants import check_answer
from tests.simulation.webhooks.webhook import Webhook

if TYPE_CHECKING:
    from tests.simulation.webhooks.path import PathRun


class Sender(Connection):
    """Sends webhooks over one connection. `webhooks`: the webhooks that the sender has begun to send.

    `parts`: the parts of the newest webhook that the sender has not sent.
    """

    def __init__(self, run: "PathRun") -> None:
        self.webhooks, self.parts = list[Webhook](), list[bytes]()
        self._run = run
        super().__init__(run.connect(), run.loop)

    def add(self, body: bytes, missing: int = 0) -> Webhook:
        """Adds a webhook. The last `missing` bytes of its body are sent later, in two parts."""
        webhook = Webhook(body, self._run.now if self._next is None else None)
        self.webhooks.append(webhook)
        self.parts += webhook.parts(missing)
        return webhook

    def take(self, parts: int = 1) -> Callable[[], None]:
        """Removes the next `parts`. Returns a function that sends these parts in one segment."""
        data = b"".join(self.parts[:parts])
        del self.parts[:parts]
        complete = self.webhooks[: len(self.webhooks) - bool(self.parts)]
        return partial(self._send, data, complete)

    def _send(self, data: bytes, complete: list[Webhook]) -> None:
        for webhook in complete:
            webhook.complete(self._run.now)
        self.deliver(data)

    def stop_sending(self) -> None:
        """Closes the sender's half of the connection. Afterwards, the sender reads nothing."""
        self.reads = False
        self.parts.clear()
        for webhook in self.webhooks:
            webhook.has_left = webhook.has_left or webhook.complete_at is None
        self.deliver_eof()

    def leave(self) -> None:
        self.parts.clear()
        self._give_up()
        self.reset()

    def shutdown(self) -> None:
        """Tells the server's protocol that the process stops."""
        if not self.ended:
            self.protocol.shutdown()

    @property
    def waits(self) -> bool:
        return any(webhook.waits for webhook in self.webhooks)

    @property
    def _next(self) -> Webhook | None:
        """The webhook that gets the next answer."""
        return next((webhook for webhook in self.webhooks if not webhook.answered), None)

    @property
    def can_send(self) -> bool:
        """True if the sender has sent all of its webhooks, and may send another webhook."""
        return self.reads and not (self.was_reset or self.is_closing() or self.parts)

    def write(self, data: Any) -> None:
        if not data or self.fails():
            return  # over ASGI, the last part of an answer is empty
        webhook = self._next
        if self.ended and not (webhook and webhook.has_left):
            # A real transport drops bytes that are written after its end. But if the sender has left, a write is a
            # fault.
            return
        check_answer(self._run, webhook, data)
        if webhook is not None:
            self._read_answer(webhook, closes=b"connection: close" in bytes(data).lower())

    def _read_answer(self, webhook: Webhook, *, closes: bool) -> None:
        webhook.answered = True
        if closes:
            self._give_up()
        elif self._next is not None:
            self._next.next_at = self._run.now

    def _give_up(self) -> None:
        for webhook in self.webhooks:
            webhook.has_left = webhook.has_left or not webhook.answered
