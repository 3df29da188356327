"""Makes the lean client's calls.

If SQS rejects the credentials, the client renews them and tries again. If SQS rejects the time in a signature, the
client corrects the time and tries again.
"""

import asyncio
import random
import time
from typing import Any

from app.sqs.account import Account
from app.sqs.lean_answers import SqsError, parsed
from app.sqs.pool import Connections
from app.sqs.signing import Signer
from app.telemetry.record import CallRecord

# Each attempt except the last one may take at most deadline ÷ ATTEMPTS seconds. So time remains for a retry if the
# first attempt gets no answer because a NAT gateway or a load balancer has silently dropped the connection.
ATTEMPTS = 3
BACKOFF_SECONDS = 0.1
# If SQS rejects a signature whose time differs from SQS's clock by more than SKEW_SECONDS, the client corrects the time
# of further signatures. SKEW_SECONDS is shorter than the five minutes for which a signature is valid.
SKEW_SECONDS = 240.0


class Calls:
    """Makes the calls of one process to SQS. `deadline`: maximum seconds for all attempts of a call together."""

    def __init__(self, connections: Connections, account: Account, deadline: float) -> None:
        self._connections, self._account = connections, account
        self._attempt_timeout = deadline / ATTEMPTS
        self._clock_offset = 0.0  # SQS's time minus this machine's, in seconds; 0 until SQS rejects a signature

    async def call(self, signer: Signer, body: bytes, deadline: float, record: CallRecord) -> dict[str, Any]:
        """Returns SQS's answer. Makes at most ATTEMPTS attempts, with a random pause before each retry.

        `deadline`: a time on the event loop's clock. Raises SqsError, NotAcknowledgedError, OSError (TimeoutError at
        the deadline), or an error of botocore if the credentials cannot be renewed.
        """
        loop = asyncio.get_running_loop()
        for attempt in range(1, ATTEMPTS + 1):
            offset, sent, last = self._clock_offset, record.sent, attempt == ATTEMPTS
            try:
                async with asyncio.timeout_at(deadline if last else min(deadline, loop.time() + self._attempt_timeout)):
                    return await self._attempt(signer, body, record)
            except OSError:  # TimeoutError is an OSError
                if last:
                    raise
            except SqsError as error:
                if error.rejected:
                    record.sent = sent
                if last or not (error.transient or await self._corrected(error, offset, deadline)):
                    raise
            async with asyncio.timeout_at(deadline):
                await asyncio.sleep(random.uniform(0, BACKOFF_SECONDS * 2**attempt))  # noqa: S311  # needs no secure randomness
            record.retries += 1
        raise AssertionError

    async def _attempt(self, signer: Signer, body: bytes, record: CallRecord) -> dict[str, Any]:
        assert self._account.current is not None
        head = signer.head(body, self._account.current, time.time() + self._clock_offset)
        connection = self._connections.take() or await self._connections.connect()
        record.sent = True
        return parsed(await self._connections.request(connection, head, body))

    async def _corrected(self, error: SqsError, signed_with: float, deadline: float) -> bool:
        """Renews expired credentials, or corrects a wrong clock offset. Returns True if a retry may then succeed.

        `signed_with`: the clock offset in the signature of the failed request, in seconds. Another call may have
        corrected the clock offset since then.
        """
        if error.expired:
            async with asyncio.timeout_at(deadline):
                await self._account.find()
            return True
        offset = error.clock_offset
        if offset is None or abs(offset - signed_with) <= SKEW_SECONDS:
            return False
        self._clock_offset = offset
        return True
