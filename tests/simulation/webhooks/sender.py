"""The sender of one webhook, in the place of the server's connection."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from app.web.server.cycle import abandon

if TYPE_CHECKING:
    from tests.simulation.webhooks.path import PathRun

FIELDS = {b"host": b"h", b"authorization": b"Basic dXNlcjpwYXNzd29yZA=="}


class Sender:
    """Sends the head and the body of a webhook.

    `answers`: the statuses of its answers. `has_sent`: the body is on its way. `complete_at`: when it has arrived.
    """

    def __init__(self, run: "PathRun", body: bytes) -> None:
        self.app_state = {"queue": run.group_commit}
        self.body, self.answers = body, list[int]()
        self.complete_at: float | None = None
        self.has_sent = self.has_left = False
        self._run, self._exchange = run, run.door.exchange(self, True)

    def send_head(self) -> None:
        self._exchange.head_complete(FIELDS | {b"content-length": b"%d" % len(self.body)})

    def send_body(self) -> None:
        self.has_sent, self.complete_at = True, self._run.now
        if not self._exchange.response_complete:
            self._exchange.add(self.body)
            self._exchange.end_body(last=False)
            self._exchange.body_complete()

    def leave(self) -> None:
        self.has_left = True
        abandon(self._exchange)

    @property
    def waits(self) -> bool:
        return not self.answers and not self.has_left

    @property
    def event_id(self) -> bytes:
        return self.body.partition(b'"id"')[2].split(b'"')[1]

    def expect_body(self, seconds: float, late: Callable[[], None]) -> None:
        """Has no deadline, because no body of a run arrives in parts."""

    def write_response(
        self, exchange: object, status: int, headers: Collection[tuple[bytes, bytes]], body: bytes
    ) -> None:
        self.answers.append(status)
        self._run.check_answer(self, status, body)
