"""One call of Chargebee's API: its slot, its deadline, its repetitions."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import aiohttp

from app.billing.answers import Answer, content_of
from app.billing.rate import Budget
from app.errors import ChargebeeUnavailable
from app.sqs.failures import without_tracebacks

ATTEMPTS = 3
# A page of a hundred events with long invoices fits.
MOST_BYTES = 8 * 1024 * 1024
PAUSE = 0.5  # seconds before the second attempt, doubled before the third; half of it at random
TOO_MANY = frozenset({"api_request_limit_exceeded", "chargebee_http_429"})
# Chargebee's limit is one of a minute; without Retry-After the budget rests for a part of it.
REST = 5.0


class Guard:
    """The attempt that makes a call, which learns here what it has asked of Chargebee. For reading, this one is enough.

    `begun`: a call was made. `unanswered`: one that writes had no answer, and may still be at work at Chargebee.
    """

    def __init__(self, event_id: str = "") -> None:
        self.event_id = event_id
        self.begun = self.unanswered = False

    async def allowance(self, seconds: float) -> float:
        """Returns the deadline for a call of `seconds`. Raises BillingFailed if the attempt may make none."""
        return seconds

    def begin(self) -> None:
        self.begun = True

    def miss_answer(self) -> None:
        self.unanswered = True

    def have_answer(self) -> None:
        """Settles earlier unanswered calls as well, because retries have the same key."""
        self.unanswered = False


class Calls:
    """`counted`: how many there were of each operation, repetitions included. `lease` and `timeout` in seconds."""

    def __init__(self, session: aiohttp.ClientSession, budget: Budget, timeout: float, lease: float) -> None:
        self._session, self._budget = session, budget
        self._timeout, self._lease = timeout, lease
        self.counted: Counter[str] = Counter()

    async def make(self, guard: Guard, operation: str, path: str, **request: Any) -> Mapping[str, Any]:
        """The JSON that Chargebee has answered; `request` as aiohttp takes it. Raises InvalidState, BillingFailed.

        The attempts end within one lease: the idempotency key must outlive them.
        """
        began: float | None = None
        for attempt in range(ATTEMPTS):
            patience = self._budget.patience(begun=guard.begun)
            if began is not None:
                patience = min(patience, began + self._lease - self._timeout - time.monotonic())
            seconds = await self._admit(guard, patience)
            began = began or time.monotonic()
            try:
                return await self._attempt(guard, operation, path, seconds, request)
            except ChargebeeUnavailable as error:
                if error.code in TOO_MANY:
                    await self._budget.push_back(error.retry_after or REST)
                elif attempt == ATTEMPTS - 1 or error.retry_after is not None:
                    raise
                if attempt == ATTEMPTS - 1 or time.monotonic() + self._timeout > began + self._lease:
                    raise
                await asyncio.sleep(PAUSE * 2**attempt * random.uniform(0.5, 1))  # noqa: S311  # no secret
        raise AssertionError("the last attempt returns or raises")

    async def _admit(self, guard: Guard, patience: float) -> float:
        """Waits for a slot; the call's deadline in seconds."""
        while True:
            slot = await self._budget.slot(patience)
            seconds = await guard.allowance(self._timeout)
            if self._budget.holds(slot):  # not where the lease had to be renewed, slowly
                return seconds

    async def _attempt(
        self, guard: Guard, operation: str, path: str, seconds: float, request: dict[str, Any]
    ) -> Mapping[str, Any]:
        self.counted[operation] += 1
        guard.begin()
        if "data" not in request:
            return content_of(await self._send("GET", path, seconds, request))
        try:
            answer = await self._send("POST", path, seconds, request)
        except BaseException:
            guard.miss_answer()
            raise
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            guard.miss_answer()  # a gateway does not know
        elif answer.status != HTTPStatus.TOO_MANY_REQUESTS:
            guard.have_answer()
        return content_of(answer)

    async def _send(self, method: str, path: str, seconds: float, request: dict[str, Any]) -> Answer:
        timeout = aiohttp.ClientTimeout(total=seconds)
        try:
            async with self._session.request(
                method, f"/api/v2{path}", timeout=timeout, allow_redirects=False, **request
            ) as response:
                return Answer(response.status, response.headers, await _body(response))
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise ChargebeeUnavailable(
                "Chargebee cannot be reached, or is slow", type(error).__name__
            ) from without_tracebacks(error)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Returns the body of an answer. Raises ChargebeeUnavailable if it is longer than MOST_BYTES."""
    try:
        await response.content.readexactly(MOST_BYTES + 1)
    except asyncio.IncompleteReadError as error:
        return error.partial
    raise ChargebeeUnavailable(f"Chargebee's answer is longer than {MOST_BYTES} bytes", "chargebee_unreadable")
