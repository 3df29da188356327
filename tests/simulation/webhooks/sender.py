"""The sender of one webhook, with its connection: a real protocol, and a transport in memory."""

import asyncio
from typing import TYPE_CHECKING, Any

from tests.simulation.webhooks.invariants import check_answer

if TYPE_CHECKING:
    from tests.simulation.webhooks.path import PathRun

HEAD = (
    b"POST /webhooks/chargebee HTTP/1.1\r\nhost: h\r\nauthorization: Basic dXNlcjpwYXNzd29yZA==\r\n"
    b"content-length: %d\r\n\r\n"
)


class Sender(asyncio.Transport):
    """Sends a webhook in one part, or in three if `missing` bytes come later. Stores the statuses of its answers.

    `began_at` and `complete_at`: when the first and the last byte have arrived. `has_left`: the sender waits for no
    answer, because it has disconnected or has stopped sending within its body.
    """

    def __init__(self, run: "PathRun", body: bytes, missing: int) -> None:
        super().__init__()
        self.body, self.answers = body, list[int]()
        self.began_at = run.now
        self.complete_at: float | None = None
        self.has_left = False
        self.rest = body[len(body) - missing :]
        self._run, self._first = run, HEAD % len(body) + body[: len(body) - missing]
        self._reads, self._closing, self._ended = True, False, False
        self._protocol = run.connect()
        self._protocol.connection_made(self)

    def send_first(self) -> None:
        self._send(self._first)

    def send_rest(self) -> None:
        rest, self.rest = self.rest, b""
        half = len(rest) // 2
        self._send(rest[:half], more=True)
        self._send(rest[half:])

    def _send(self, part: bytes, *, more: bool = False) -> None:
        if not self.rest and not more:
            self.complete_at = self._run.now
        if not self._closing:
            self._protocol.data_received(part)

    def stop_sending(self) -> None:
        """Closes the sender's half of the connection. Afterwards, the sender reads nothing."""
        self._reads, self.has_left = False, self.complete_at is None
        if not self._closing and not self._protocol.eof_received():
            self.close()

    def leave(self) -> None:
        self.has_left = True
        self.abort()

    def shutdown(self) -> None:
        """Tells the server's protocol that the process stops."""
        if not self._ended:
            self._protocol.shutdown()

    @property
    def waits(self) -> bool:
        return not self.answers and not self.has_left

    @property
    def event_id(self) -> bytes:
        return self.body.partition(b'"id"')[2].split(b'"')[1]

    # The rest is the transport, which the server's protocol uses.

    def write(self, data: Any) -> None:
        if self._ended and not self.has_left:
            return  # a real transport drops what is written after its end; after a departure, a write is a fault
        self.answers.append(int(data[9:12]))
        check_answer(self._run, self, self.answers[-1], data)

    def close(self) -> None:
        """Ends the connection, unless the sender leaves an answer unread."""
        if self._reads:
            self.abort()
        self._closing = True

    def abort(self) -> None:
        if not self._ended:
            self._run.loop.call_soon(self._protocol.connection_lost, None)
        self._closing = self._ended = True

    def is_closing(self) -> bool:
        return self._closing

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...
