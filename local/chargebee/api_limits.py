"""Limits the calls per minute, locks invoices that are being changed, and stores answers by idempotency key.

All times are seconds of one clock, which never goes back.
"""

import math
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from local.chargebee import api_errors

WINDOW = 60.0
# Chargebee's maximum length of an idempotency key: https://apidocs.chargebee.com/docs/api/idempotency
LONGEST_KEY = 100


class RateLimit:
    """Allows at most `rate` calls in any 60 s.

    Rejected calls do not count. Therefore, a client that has waited for the seconds in Retry-After can call again.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._taken: deque[float] = deque()

    def take(self, now: float) -> None:
        """Counts a call. Raises ApiError (429) if the limit is reached.

        The error contains the number of seconds until a call is allowed again, rounded up.
        """
        self._forget(now)
        if len(self._taken) >= self.rate:
            frees = self._taken[len(self._taken) - self.rate] + WINDOW
            raise api_errors.limit_exceeded(max(1, math.ceil(frees - now)))
        self._taken.append(now)

    def change(self, rate: int) -> None:
        """Changes the limit; earlier calls still count."""
        self.rate = rate

    def used(self, now: float) -> int:
        """Returns how many calls the limit has allowed in the last 60 s."""
        self._forget(now)
        return len(self._taken)

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0] <= now - WINDOW:
            self._taken.popleft()


class Locks:
    """Locks invoices, so that two requests never change the same invoice at the same time."""

    def __init__(self) -> None:
        self._locked: dict[str, str | None] = {}

    @contextmanager
    def lock(self, invoice_id: str, key: str | None = None) -> Iterator[None]:
        """Locks the invoice until the `with` block ends. `key`: the request's idempotency key.

        `invoice_id` is any text that identifies the invoice or subscription, such as `Call.locked`. If another request
        has locked it, raises ApiError at once: 409 if that request has the same `key`, 429 otherwise. Chargebee's own
        API waits some time for the lock before it answers 429.
        """
        if invoice_id in self._locked:
            same_key = key is not None and self._locked[invoice_id] == key
            raise api_errors.still_in_progress() if same_key else api_errors.lock_timeout()
        self._locked[invoice_id] = key
        try:
            yield
        finally:
            del self._locked[invoice_id]


# The path and body of a request.
Request = tuple[str, bytes]


@dataclass(frozen=True)
class _StoredAnswer:
    request: Request
    answer: bytes
    until: float


class IdempotencyKeys:
    """Remembers the answers of successful requests by idempotency key.

    Chargebee does not document whether it remembers errors.
    """

    def __init__(self) -> None:
        self._answers: dict[str, _StoredAnswer] = {}

    def replay(self, key: str, request: Request, now: float) -> bytes | None:
        """Returns the answer that is stored for `key`, or None if no answer is stored or it has expired.

        Raises ApiError (400) if `key` is too long, or if the earlier request with this key was different. Chargebee
        documents that it compares the two requests, but not which error it returns if they differ.
        """
        if len(key) > LONGEST_KEY:
            raise api_errors.invalid_request(f"The idempotency key has more than {LONGEST_KEY} characters")
        stored = self._answers.get(key)
        if stored is None or stored.until <= now:
            return None
        if stored.request != request:
            raise api_errors.invalid_request("The idempotency key was used with another path or other parameters")
        return stored.answer

    def store(self, key: str, request: Request, answer: bytes, now: float, seconds: float) -> None:
        """Stores the answer to `request`. The stored answer expires `seconds` after `now`."""
        self._answers.pop(key, None)
        self._answers[key] = _StoredAnswer(request, answer, now + seconds)
        # Deletes expired answers. In the dict, the answer that was stored first comes first. It also expires first,
        # unless the option `idempotency_seconds` has changed.
        while (oldest := next(iter(self._answers))) != key and self._answers[oldest].until <= now:
            del self._answers[oldest]
