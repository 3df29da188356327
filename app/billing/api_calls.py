"""Makes calls to Chargebee's API: waits for the rate limit, limits the time of each call, and retries failed calls."""

import asyncio
from collections.abc import Awaitable, Mapping
from http import HTTPStatus
from time import perf_counter
from typing import Any

import aiohttp

from app.billing.answers import ApiAnswer, InvalidState, content_of
from app.billing.caller import Caller
from app.billing.chargebee_session import body_of
from app.billing.rate import MISSES, SharedRateLimit, missed
from app.clock import monotonic, uniform
from app.errors import BillingFailed, ChargebeeUnavailable, Unprocessable
from app.sqs.failures import without_tracebacks
from app.telemetry.record import CANCELLED, CHARGEBEE, CallRecord, ObserveCall, unobserved
from app.telemetry.trace import current_traceparents

ATTEMPTS = 3
# Seconds between the first and the second try of a call. The pause before the third try is twice as long. The
# service shortens each pause by a random part, at most half.
PAUSE = 0.5
TOO_MANY = frozenset({"api_request_limit_exceeded", "chargebee_http_429"})
# Seconds for which all workers pause if Chargebee answers 429 (too many requests) without a Retry-After header.
REST = 5.0


class ApiCalls:
    """Makes the API calls to one Chargebee site.

    `timeout`: the time-out of one try; `lease`: the time limit for all tries of one call, both in seconds. `observe`
    receives the record of each call whose first try has begun.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        rate_limit: SharedRateLimit,
        timeout: float,
        lease: float,
        observe: ObserveCall = unobserved,
    ) -> None:
        self._session, self._rate_limit = session, rate_limit
        self._timeout, self._lease = timeout, lease
        self._observe = observe

    async def make(self, caller: Caller, operation: str, path: str, **request: Any) -> Mapping[str, Any]:
        """Makes a call in at most ATTEMPTS tries, and returns the JSON object in the answer.

        `request`: keyword arguments of aiohttp's `request`. Raises InvalidState, BillingFailed.

        No try begins more than one lease after the first try, and a lease lasts at most 15 minutes. Chargebee remembers
        an idempotency key for 30 minutes, so Chargebee recognises each later try as a repetition.
        """
        record = CallRecord(operation, traceparents=current_traceparents(), system=CHARGEBEE)
        try:
            return await self._make(caller, record, path, request)
        finally:
            if record.waited:
                record.ended, record.retries = perf_counter(), len(record.waited) - 1
                self._observe(record)

    async def _make(self, caller: Caller, record: CallRecord, path: str, request: dict[str, Any]) -> Mapping[str, Any]:
        began: float | None = None
        for attempt in range(ATTEMPTS):
            patience = self._rate_limit.patience(begun=caller.asked.begun)
            asked = perf_counter()
            if began is not None:
                patience = min(patience, began + self._lease - self._timeout - monotonic())
            seconds = await self._admit(caller, patience)
            began = began or monotonic()
            if attempt and monotonic() > began + self._lease:
                raise ChargebeeUnavailable("The process was halted between two tries of a call", "halted")
            record.waited.append(perf_counter() - asked)
            if not attempt:
                record.began = perf_counter()
            try:
                return await _observed(record, self._attempt(caller, path, seconds, request))
            except ChargebeeUnavailable as error:
                if error.code in TOO_MANY:
                    record.throttled += 1
                    await self._rate_limit.push_back(error.retry_after or REST)
                elif attempt == ATTEMPTS - 1 or error.retry_after is not None:
                    raise
                if attempt == ATTEMPTS - 1 or monotonic() + self._timeout > began + self._lease:
                    raise
                await asyncio.sleep(PAUSE * 2**attempt * uniform(0.5, 1))
        raise AssertionError("the last attempt returns or raises")

    async def _admit(self, caller: Caller, patience: float) -> float:
        """Waits until the rate limit allows a call, and returns the time-out of the call in seconds.

        Raises ChargebeeUnavailable if the wait would be longer than `patience` seconds. Also raises it if MISSES
        reserved slots (a slot is the time for one call) were no longer valid, because each such slot is lost for all
        workers. Also raises the errors of `SharedRateLimit.slot` and `Caller.allowance`.
        """
        deadline = monotonic() + patience
        for _ in range(MISSES):
            slot = await self._rate_limit.slot(max(deadline - monotonic(), 0.0))
            seconds = await caller.allowance(self._timeout)
            # `allowance` may have renewed the lease. If the renewal took too long, the slot is no longer valid.
            if self._rate_limit.is_valid(slot):
                return seconds
        raise missed()

    async def _attempt(self, caller: Caller, path: str, seconds: float, request: dict[str, Any]) -> Mapping[str, Any]:
        caller.asked.begin()
        if "data" not in request:
            return content_of(await self._send("GET", path, seconds, request))
        try:
            answer = await self._send("POST", path, seconds, request)
        except BaseException:
            caller.asked.miss_answer()
            raise
        if answer.status == HTTPStatus.OK or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            # The answer may come from a gateway while Chargebee still executes the call. If the answer is a readable
            # 200, `have_answer` below clears `unanswered` again.
            caller.asked.miss_answer()
        # Only one error, Unprocessable, shows that Chargebee has ended all earlier tries. Chargebee may answer with
        # InvalidState while it still executes an earlier try.
        try:
            content = content_of(answer)
        except Unprocessable:
            caller.asked.have_answer()
            raise
        caller.asked.have_answer()
        return content

    async def _send(self, method: str, path: str, seconds: float, request: dict[str, Any]) -> ApiAnswer:
        timeout = aiohttp.ClientTimeout(total=seconds)
        try:
            async with self._session.request(
                method, f"/api/v2{path}", timeout=timeout, allow_redirects=False, **request
            ) as response:
                return ApiAnswer(response.status, response.headers, await body_of(response))
        except (aiohttp.ClientError, OSError) as error:  # OSError includes TimeoutError
            raise ChargebeeUnavailable(
                "Chargebee cannot be reached, or does not answer in time", type(error).__name__
            ) from without_tracebacks(error)


async def _observed(record: CallRecord, attempt: Awaitable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Returns the result of one try, and writes to `record` how the try has ended."""
    record.code = CANCELLED
    try:
        content = await attempt
    except InvalidState:
        record.code, record.refused = None, ["invalid_state_for_request"]
        raise
    except Unprocessable as error:
        record.code, record.refused = None, [error.code]
        raise
    except BillingFailed as error:
        record.code = error.code
        raise
    record.code = None
    return content
