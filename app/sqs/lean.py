"""Implements the lean client, which makes two API calls, SendMessageBatch and GetQueueUrl, without an AWS SDK.

botocore still finds the region, the endpoint, the CA bundle and the credentials, in a thread. For each call, the
client makes the JSON body and the signature, and uses a kept-alive connection.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson
from loguru import logger

from app.errors import WebhookRefused
from app.sqs.account import Account
from app.sqs.answers import SqsError, parsed
from app.sqs.credentials import CurrentCredentials
from app.sqs.failures import code_of, require_queue_url
from app.sqs.limits import SendLimits
from app.sqs.message import Message
from app.sqs.pool import Connections
from app.sqs.queue import Entries, QueueAddress, batch_refused, outcomes, refusal
from app.sqs.signing import Signer
from app.telemetry.record import CallRecord

ATTEMPTS = 3
BACKOFF_SECONDS = 0.1
WARM_SECONDS = 3.0
# After SQS has rejected a signature, the client corrects the time in its signatures if this machine's clock differs
# from SQS's by more than SKEW_SECONDS. A signature is valid for five minutes.
SKEW_SECONDS = 240.0


class LeanQueue:
    """A queue in SQS. `warm` finds the queue's URL and the credentials. If `warm` fails, `send_batch` finds them."""

    def __init__(self, account: Account, address: QueueAddress, limits: SendLimits) -> None:
        self._address = address
        self.fifo = address.fifo
        self._slots = 1 if self.fifo else limits.calls
        endpoint = account.endpoint
        default_port = 80 if account.tls is None else 443
        port = endpoint.port or default_port
        host = endpoint.netloc.removesuffix(f":{default_port}")  # as botocore does, and other HTTP clients
        attempt_timeout = limits.deadline / ATTEMPTS
        self._connections = Connections(str(endpoint.hostname), port, account.tls, attempt_timeout)
        path = endpoint.path or "/"
        self._send = Signer(host, account.region, "AmazonSQS.SendMessageBatch", path=path)
        self._get_url = Signer(host, account.region, "AmazonSQS.GetQueueUrl", path=path)
        self._preparing = asyncio.Lock()
        self.credentials = CurrentCredentials(account)
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

    def close(self) -> None:
        self._connections.close()

    async def send_batch(
        self, messages: Sequence[Message], deadline: float, record: CallRecord
    ) -> list[WebhookRefused | None]:
        """Sends at most ten messages in one call. `BatchQueue.send_batch` describes parameters, result and errors."""
        entries = self._entries.of(messages)
        try:
            async with asyncio.timeout_at(deadline):
                if self._url is None or self.credentials.current is None:
                    await self._prepare()
                body = orjson.dumps({"QueueUrl": self._url, "Entries": entries})
                answer = await self._call(self._send, body, record)
                return outcomes(answer, [entry["Id"] for entry in entries], record)
        except Exception as error:
            code = record.code = error.code if isinstance(error, SqsError) else code_of(error)
            raise batch_refused(code) or refusal(code) from error

    async def _prepare(self) -> None:
        async with self._preparing:
            if self.credentials.current is None:
                await self.credentials.find()
            if self._url is None:
                self._url = await self._find_url()

    async def _find_url(self) -> str:
        body = orjson.dumps(self._address.parameters())
        return require_queue_url(await self._call(self._get_url, body, CallRecord("GetQueueUrl")))

    async def _call(self, signer: Signer, body: bytes, record: CallRecord) -> dict[str, Any]:
        """Returns SQS's answer to a call. Makes at most ATTEMPTS attempts, with random pauses."""
        for attempt in range(1, ATTEMPTS + 1):
            offset = self._clock_offset
            try:
                return await self._attempt(signer, body)
            except (OSError, TimeoutError):
                if attempt == ATTEMPTS:
                    raise
            except SqsError as error:
                if attempt == ATTEMPTS or not (error.transient or await self._corrected(error, offset)):
                    raise
            record.retries += 1
            await asyncio.sleep(random.uniform(0, BACKOFF_SECONDS * 2**attempt))  # noqa: S311  # needs no secure randomness
        raise AssertionError

    async def _attempt(self, signer: Signer, body: bytes) -> dict[str, Any]:
        assert self.credentials.current is not None
        head = signer.head(body, self.credentials.current, time.time() + self._clock_offset)
        return parsed(await self._connections.request(head, body))

    async def _corrected(self, error: SqsError, signed_with: float) -> bool:
        """Corrects the credentials or the clock offset if they caused the error. Returns True if a retry may succeed.

        `signed_with`: the clock offset in the signature of the failed request, in seconds. Another call may have
        corrected the clock offset since then.
        """
        if error.expired:
            await self.credentials.find()
            return True
        offset = error.clock_offset
        if offset is None or abs(offset - signed_with) <= SKEW_SECONDS:
            return False
        self._clock_offset = offset
        return True


@asynccontextmanager
async def open_lean(address: QueueAddress, limits: SendLimits) -> AsyncIterator[LeanQueue]:
    """Yields the queue, with open connections if SQS is reachable. Closes the connections at the end of the context."""
    queue = LeanQueue(await asyncio.to_thread(Account), address, limits)
    renewing = asyncio.create_task(queue.credentials.renew())
    try:
        await queue.warm()
        yield queue
    finally:
        renewing.cancel()
        queue.close()
