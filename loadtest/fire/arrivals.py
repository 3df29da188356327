"""Counts the messages that arrive in the queue, for the audit: asks the stand-in for digests, or drains the queue."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Protocol, Self

from loadtest.fire.drain import QUIET_SECONDS, Drain
from loadtest.stage.stack import Stack
from loadtest.stage.stand_in import StandIn

POLL_SECONDS = 0.1


class Arrivals(Protocol):
    """A context that counts the messages that arrive in the queue. `received`: the counts, by digest of the body."""

    received: Counter[bytes]

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def wait(self, complete: Callable[[Counter[bytes]], bool]) -> None:
        """Returns when `complete(received)` is true, or when nothing has arrived for QUIET_SECONDS."""
        ...

    def forget(self, digest: bytes) -> int:
        """Removes `digest` from `received`, and returns its count."""
        ...


class Ledger:
    """An `Arrivals` for the stand-in for SQS, which keeps the digests of all messages that it has acknowledged."""

    def __init__(self, stand_in: StandIn, queue_url: str) -> None:
        self.received: Counter[bytes] = Counter()
        self._stand_in, self._url = stand_in, queue_url
        self._forgotten: Counter[bytes] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def wait(self, complete: Callable[[Counter[bytes]], bool]) -> None:
        """See `Arrivals`. Raises URLError if the stand-in does not respond."""
        changed, before = time.monotonic(), -1
        while True:
            self._read()
            if self.received.total() != before:
                changed, before = time.monotonic(), self.received.total()
            if complete(self.received) or time.monotonic() - changed > QUIET_SECONDS:
                return
            time.sleep(POLL_SECONDS)

    def forget(self, digest: bytes) -> int:
        """See `Arrivals`."""
        found = self.received.pop(digest, 0)
        self._forgotten[digest] += found
        return found

    def _read(self) -> None:
        bodies = self._stand_in.digests(self._url).bodies
        self.received = Counter({bytes.fromhex(digest): count for digest, count in bodies.items()}) - self._forgotten


def arrivals(stack: Stack, queue_url: str) -> Arrivals:
    """Returns an `Arrivals` for the queue at `queue_url`, which `stack` serves."""
    if isinstance(stack.process, StandIn):
        return Ledger(stack.process, queue_url)
    return Drain(stack.sqs, queue_url)
