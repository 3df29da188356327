"""What the API allows: calls a minute, one request on an invoice at a time, repeated requests.

Times are seconds of one clock that does not go back.
"""

import math
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from local.chargebee import api_errors

WINDOW = 60.0
# https://apidocs.chargebee.com/docs/api/idempotency
LONGEST_KEY = 100


class RateLimit:
    """At most `rate` calls in any 60 s. Refused calls do not count, so a client that waits gets through."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._taken: deque[float] = deque()

    def take(self, now: float) -> None:
        """Raises ApiError (429) with the whole seconds until the next call may come."""
        self._forget(now)
        if len(self._taken) >= self.rate:
            frees = self._taken[len(self._taken) - self.rate] + WINDOW
            raise api_errors.limit_exceeded(max(1, math.ceil(frees - now)))
        self._taken.append(now)

    def change(self, rate: int) -> None:
        """Calls of before still count."""
        self.rate = rate

    def used(self, now: float) -> int:
        """Calls of the last 60 s."""
        self._forget(now)
        return len(self._taken)

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0] <= now - WINDOW:
            self._taken.popleft()


class Locks:
    """One request that changes an invoice at a time."""

    def __init__(self) -> None:
        self._held: set[str] = set()

    @contextmanager
    def hold(self, invoice_id: str) -> Iterator[None]:
        """Raises ApiError (429). Chargebee waits for the lock before it gives up; here nobody waits."""
        if invoice_id in self._held:
            raise api_errors.lock_timeout()
        self._held.add(invoice_id)
        try:
            yield
        finally:
            self._held.discard(invoice_id)


# A path and a body.
Request = tuple[str, bytes]


@dataclass(frozen=True)
class _StoredAnswer:
    request: Request
    answer: bytes
    until: float


class IdempotencyKeys:
    """Answers to repeat. Only those of requests that succeeded: whether Chargebee keeps errors is not documented."""

    def __init__(self) -> None:
        self._kept: dict[str, _StoredAnswer] = {}

    def replay(self, key: str, request: Request, now: float) -> bytes | None:
        """The earlier answer to the same request.

        Raises ApiError (400) for another one: Chargebee documents that it compares them, but not what it answers.
        """
        if len(key) > LONGEST_KEY:
            raise api_errors.invalid_request(f"The idempotency key has more than {LONGEST_KEY} characters")
        kept = self._kept.get(key)
        if kept is None or kept.until <= now:
            return None
        if kept.request != request:
            raise api_errors.invalid_request("The idempotency key was used with another path or other parameters")
        return kept.answer

    def keep(self, key: str, request: Request, answer: bytes, now: float, seconds: float) -> None:
        """For `seconds` from now on."""
        self._kept.pop(key, None)
        self._kept[key] = _StoredAnswer(request, answer, now + seconds)
        # In the order of their coming, which is that of their end unless the time to keep them has changed.
        while (oldest := next(iter(self._kept))) != key and self._kept[oldest].until <= now:
            del self._kept[oldest]
