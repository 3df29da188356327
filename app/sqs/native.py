"""Sends messages with aioboto3, an asynchronous client."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from loguru import logger

from app.errors import WebhookRefused
from app.sqs.async_client import open_client
from app.sqs.failures import (
    code_of,
    rejected,
    require_acknowledgement,
    require_queue_url,
    retries_of,
    without_tracebacks,
)
from app.sqs.message import Message, traceparents
from app.sqs.queue import QueueAddress, SendLimits, batch_refused, entries_of, outcomes, refusal
from app.sqs.sdk_calls import client_options, refusing
from app.telemetry.record import CallRecord, ObserveCall, unobserved

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient

ATTEMPTS = 3
# Number of connections that `warm` opens. Each one costs a TLS handshake, and 500 webhooks per second need eight.
WARM_CONNECTIONS = 8
WARM_SECONDS = 3.0


class NativeQueue:
    """A queue in SQS. If `warm` has failed, `send` and `send_batch` ask SQS for the queue's URL."""

    def __init__(self, client: "SQSClient", address: QueueAddress, deadline: float, observe: ObserveCall) -> None:
        self._client = client
        self._observe = observe
        self._address = address
        self._batches = count()
        self.fifo = address.fifo
        self._deadline = deadline
        self._url: str | None = None
        self._resolving = asyncio.Lock()

    async def warm(self) -> None:
        """Opens connections by parallel calls of GetQueueUrl, which also return the queue's URL.

        If a call fails, or if the calls take longer than WARM_SECONDS, only logs a warning.
        """
        parameters: Any = self._address.parameters()
        try:
            # If a call fails, the task group cancels the other calls. Otherwise, they could open connections after the
            # client is closed.
            async with asyncio.timeout(WARM_SECONDS), asyncio.TaskGroup() as group:
                calls = [group.create_task(self._client.get_queue_url(**parameters)) for _ in range(WARM_CONNECTIONS)]
            self._url = require_queue_url(calls[0].result())
        except* Exception as errors:
            logger.warning("Cannot connect to SQS yet: {}", code_of(errors.exceptions[0]))

    async def send(self, message: Message) -> None:
        """Returns when SQS has acknowledged `message`.

        Raises InvalidEvent if SQS rejects a character of the body, and QueueUnavailable after any other failure, or
        when the deadline passes. If SQS's answer was lost, the message may have been enqueued nevertheless.
        """
        record = CallRecord("SendMessage", 1, message.size, traceparents=traceparents([message]))
        with refusing(record, ATTEMPTS, self._observe):
            async with asyncio.timeout(self._deadline):
                url = self._url or await self._resolve()
                record.sent = True
                answer = await self._client.send_message(QueueUrl=url, **message.parameters())
                record.retries = retries_of(answer, ATTEMPTS)
                require_acknowledgement(answer, message.body, fifo=self.fifo)

    async def send_batch(
        self, messages: Sequence[Message], deadline: float, record: CallRecord
    ) -> list[WebhookRefused | None]:
        """Sends at most ten messages in one call. `BatchQueue.send_batch` describes parameters, result and errors."""
        entries: list[Any] = entries_of(messages, next(self._batches))
        try:
            async with asyncio.timeout_at(deadline):
                url = self._url or await self._resolve()
                record.sent = True
                answer = await self._client.send_message_batch(QueueUrl=url, Entries=entries)
                record.retries = retries_of(answer, ATTEMPTS)
                return outcomes(answer, [entry["Id"] for entry in entries], record)
        except Exception as error:
            record.retries, record.code = retries_of(error, ATTEMPTS), code_of(error)
            sent = record.sent and not rejected(error)
            raise batch_refused(record.code) or refusal(record.code, sent=sent) from without_tracebacks(error)

    async def _resolve(self) -> str:
        async with self._resolving:
            if self._url is None:
                parameters: Any = self._address.parameters()
                self._url = require_queue_url(await self._client.get_queue_url(**parameters))
            return self._url


@asynccontextmanager
async def open_queue(
    address: QueueAddress, limits: SendLimits, observe: ObserveCall = unobserved
) -> AsyncIterator[NativeQueue]:
    """Yields the queue, and closes its connections at the end of the context.

    Each attempt gets only a part of the deadline. So time remains for a retry if the first attempt gets no answer, for
    example because a NAT gateway or a load balancer has silently dropped the connection.

    `observe` receives the record of each SendMessage. Group commit has a separate observer for SendMessageBatch.
    """
    part = limits.deadline / ATTEMPTS
    options = client_options(ATTEMPTS, connect=part, read=part, connections=limits.connections)
    async with open_client("sqs", options) as client:
        yield NativeQueue(client, address, limits.deadline, observe)
