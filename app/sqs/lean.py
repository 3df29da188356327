"""Implements the lean client, which makes one API call, SendMessageBatch, with less CPU time than an AWS SDK.

botocore still finds the region, the endpoint, the CA bundle, the credentials and the queue's URL, in a thread. For each
call, the lean client itself makes the JSON body and the signature, and uses a kept-alive connection.
"""

import asyncio
import random
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import orjson
from loguru import logger

from app.errors import WebhookRefused
from app.sqs.account import Account, in_background
from app.sqs.answers import SqsError, parsed
from app.sqs.failures import code_of
from app.sqs.limits import SendLimits
from app.sqs.message import Message
from app.sqs.pool import Connections
from app.sqs.queue import Entries, QueueAddress, batch_refused, outcomes, refusal
from app.sqs.signing import Credentials, Signer
from app.telemetry.record import CallRecord

ATTEMPTS = 3
BACKOFF_SECONDS = 0.1
WARM_SECONDS = 3.0
# Every RENEW_SECONDS, the client asks botocore for credentials. botocore renews those that expire within 15 minutes.
RENEW_SECONDS = 60.0
# After SQS has rejected a signature, the client corrects the time in its signatures if this machine's clock differs
# from SQS's by more than SKEW_SECONDS. A signature is valid for five minutes.
SKEW_SECONDS = 240.0


class LeanQueue:
    """A queue in SQS. `warm` finds the queue's URL and the credentials. If `warm` fails, `send_batch` finds them."""

    def __init__(self, account: Account, limits: SendLimits) -> None:
        self._account = account
        self.fifo = account.address.fifo
        self._slots = 1 if self.fifo else limits.calls
        endpoint = account.endpoint
        tls = ssl.create_default_context(cafile=account.ca_bundle) if endpoint.scheme == "https" else None
        port = endpoint.port or (80 if tls is None else 443)
        attempt_timeout = limits.deadline / ATTEMPTS
        self._connections = Connections(str(endpoint.hostname), port, tls, attempt_timeout)
        path = endpoint.path or "/"
        self._signer = Signer(endpoint.netloc, account.region, "AmazonSQS.SendMessageBatch", path=path)
        self._preparing = asyncio.Lock()
        self._credentials: Credentials | None = None
        self._url: str | None = None
        self._clock_offset = 0.0  # SQS's time minus this machine's, in seconds; 0 until SQS rejects a signature
        self._entries = Entries()

    async def warm(self) -> None:
        """Finds the credentials and the URL, and opens connections.

        Logs a warning instead if a step fails, or if the steps take longer than WARM_SECONDS.
        """
        try:
            async with asyncio.timeout(WARM_SECONDS):
                await asyncio.gather(self._prepare(), self._connections.open(self._slots))
        except Exception as error:
            logger.warning("Cannot connect to SQS yet: {}", code_of(error))

    async def renew(self) -> None:
        """Renews the credentials before they expire, so that no webhook waits for new credentials. Never returns."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with suppress(Exception):  # if SQS rejects expired credentials, `_corrected` renews them
                self._credentials = await in_background(self._account.credentials)

    def close(self) -> None:
        self._connections.close()

    async def send_batch(
        self, messages: Sequence[Message], deadline: float, record: CallRecord
    ) -> list[WebhookRefused | None]:
        """Sends at most ten messages in one call. `BatchQueue.send_batch` describes parameters, result and errors."""
        entries = self._entries.of(messages)
        try:
            async with asyncio.timeout_at(deadline):
                if self._url is None or self._credentials is None:
                    await self._prepare()
                answer = await self._call(orjson.dumps({"QueueUrl": self._url, "Entries": entries}), record)
                return outcomes(answer, [entry["Id"] for entry in entries], record)
        except Exception as error:
            code = record.code = error.code if isinstance(error, SqsError) else code_of(error)
            raise batch_refused(code) or refusal(code) from error

    async def _prepare(self) -> None:
        async with self._preparing:
            if self._url is None:
                self._credentials = await in_background(self._account.credentials)
                self._url = await in_background(self._account.queue_url)

    async def _call(self, body: bytes, record: CallRecord) -> dict[str, Any]:
        """Returns SQS's answer to a SendMessageBatch. Makes at most ATTEMPTS attempts, with random pauses."""
        for attempt in range(1, ATTEMPTS + 1):
            offset = self._clock_offset
            try:
                return await self._attempt(body)
            except (OSError, TimeoutError):
                if attempt == ATTEMPTS:
                    raise
            except SqsError as error:
                if attempt == ATTEMPTS or not (error.transient or await self._corrected(error, offset)):
                    raise
            record.retries += 1
            await asyncio.sleep(random.uniform(0, BACKOFF_SECONDS * 2**attempt))  # noqa: S311  # needs no secure randomness
        raise AssertionError

    async def _attempt(self, body: bytes) -> dict[str, Any]:
        assert self._credentials is not None
        head = self._signer.head(body, self._credentials, time.time() + self._clock_offset)
        return parsed(await self._connections.request(head, body))

    async def _corrected(self, error: SqsError, signed_with: float) -> bool:
        """Corrects the credentials or the clock offset if they caused the error. Returns True if a retry may succeed.

        `signed_with`: the clock offset in the signature of the failed request, in seconds. Another call may have
        corrected the clock offset since then.
        """
        if error.expired:
            self._credentials = await in_background(self._account.credentials)
            return True
        offset = error.clock_offset
        if offset is None or abs(offset - signed_with) <= SKEW_SECONDS:
            return False
        self._clock_offset = offset
        return True


@asynccontextmanager
async def open_lean(address: QueueAddress, limits: SendLimits) -> AsyncIterator[LeanQueue]:
    """Yields the queue, with open connections if SQS is reachable. Closes the connections at the end of the context."""
    queue = LeanQueue(await asyncio.to_thread(Account, address, limits.deadline), limits)
    renewing = asyncio.create_task(queue.renew())
    try:
        await queue.warm()
        yield queue
    finally:
        renewing.cancel()
        queue.close()
