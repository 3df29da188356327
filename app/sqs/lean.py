"""Implements the lean client, which makes two API calls, SendMessageBatch and GetQueueUrl, without an AWS SDK.

botocore still finds the region, the endpoint, the CA bundle and the credentials, in a thread. For each call, the
client makes the JSON body and the signature, and uses a kept-alive connection.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count

import orjson
from loguru import logger

from app.errors import WebhookRefused
from app.sqs.account import Account
from app.sqs.failures import code_of, require_queue_url
from app.sqs.lean_answers import SqsError
from app.sqs.lean_calls import ATTEMPTS, Calls
from app.sqs.message import Message
from app.sqs.pool import Connections
from app.sqs.queue import QueueAddress, SendLimits, batch_refused, entries_of, outcomes, refusal
from app.sqs.signing import Signer
from app.telemetry.record import CallRecord

WARM_SECONDS = 3.0


class LeanQueue:
    """A queue in SQS. If `warm` has failed, `send_batch` finds the queue's URL and the credentials."""

    def __init__(self, account: Account, address: QueueAddress, limits: SendLimits) -> None:
        self._account, self._address = account, address
        self.fifo = address.fifo
        self._slots = 1 if self.fifo else limits.calls
        endpoint = account.endpoint
        default_port = 80 if account.tls is None else 443
        port, hostname = endpoint.port or default_port, str(endpoint.hostname)
        # As with botocore, the Host header contains no user, no password and no default port.
        host = f"[{hostname}]" if ":" in hostname else hostname
        host = host if port == default_port else f"{host}:{port}"
        self._deadline = limits.deadline
        self._connections = Connections(hostname, port, account.tls, limits.deadline / ATTEMPTS)
        path = endpoint.path or "/"
        self._send = Signer(host, account.region, "AmazonSQS.SendMessageBatch", path=path)
        self._get_url = Signer(host, account.region, "AmazonSQS.GetQueueUrl", path=path)
        self._preparing = asyncio.Lock()
        self._url: str | None = None
        self._calls = Calls(self._connections, account, limits.deadline)
        self._batches = count()

    async def warm(self) -> None:
        """Finds the credentials and the URL, and opens connections.

        If a step fails, or if the steps take longer than WARM_SECONDS, only logs a warning.
        """
        try:
            async with asyncio.timeout(WARM_SECONDS):
                await asyncio.gather(self._prepare(), self._connections.open(self._slots))
        except Exception as error:
            logger.warning("Cannot connect to SQS yet: {}", _code(error))

    def close(self) -> None:
        self._connections.close()

    async def send_batch(
        self, messages: Sequence[Message], deadline: float, record: CallRecord
    ) -> list[WebhookRefused | None]:
        """Sends at most ten messages in one call. `BatchQueue.send_batch` describes parameters, result and errors."""
        entries = entries_of(messages, next(self._batches))
        try:
            if self._url is None or self._account.current is None:
                async with asyncio.timeout_at(deadline):
                    await self._prepare()
            body = orjson.dumps({"QueueUrl": self._url, "Entries": entries})
            answer = await self._calls.call(self._send, body, deadline, record)
            return outcomes(answer, [entry["Id"] for entry in entries], record)
        except Exception as error:
            code = record.code = _code(error)
            raise batch_refused(code) or refusal(code, sent=record.sent) from error

    async def _prepare(self) -> None:
        async with self._preparing:
            if self._account.current is None:
                await self._account.find()
            if self._url is None:
                self._url = await self._find_url()

    async def _find_url(self) -> str:
        body = orjson.dumps(self._address.parameters())
        deadline = asyncio.get_running_loop().time() + self._deadline
        answer = await self._calls.call(self._get_url, body, deadline, CallRecord("GetQueueUrl"))
        return require_queue_url(answer)


def _code(error: Exception) -> str:
    return error.code if isinstance(error, SqsError) else code_of(error)


@asynccontextmanager
async def open_lean(address: QueueAddress, limits: SendLimits) -> AsyncIterator[LeanQueue]:
    """Yields the queue, and closes its connections at the end of the context."""
    account = await asyncio.to_thread(Account)
    queue = LeanQueue(account, address, limits)
    renewing = asyncio.create_task(account.renew())
    try:
        yield queue
    finally:
        renewing.cancel()
        queue.close()
