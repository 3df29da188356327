"""The asynchronous client: aioboto3, owned by whoever opened it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aioboto3
from aiobotocore.config import AioConfig

from app.settings import Settings
from app.sqs.failures import SEND_ERRORS, refusal
from app.sqs.message import Message

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient


class NativeQueue:
    """One queue. SQS may be down at the start: the URL is resolved by the first send that can, then kept."""

    def __init__(self, client: "SQSClient", name: str, timeout: float) -> None:
        self._client = client
        self._name = name
        self._timeout = timeout
        self._url: str | None = None
        self._resolving = asyncio.Lock()

    @property
    def fifo(self) -> bool:
        return self._name.endswith(".fifo")

    async def send(self, message: Message) -> None:
        """Returns once SQS has acknowledged `message`, within `timeout` seconds.

        Raises QueueUnavailable (the message may still have been enqueued, if it was the answer that was
        lost) or InvalidEvent.
        """
        try:
            async with asyncio.timeout(self._timeout):
                await self._client.send_message(QueueUrl=self._url or await self._resolve(), **message.parameters())
        except SEND_ERRORS as error:
            raise refusal(error) from error

    async def _resolve(self) -> str:
        async with self._resolving:
            if self._url is None:
                answer = await self._client.get_queue_url(QueueName=self._name)
                self._url = answer["QueueUrl"]
            return self._url


@asynccontextmanager
async def open_queue(settings: Settings) -> AsyncIterator[NativeQueue]:
    """The queue of `settings`, with connections that live as long as the context."""
    config = AioConfig(
        connect_timeout=settings.sqs_timeout,
        read_timeout=settings.sqs_timeout,
        max_pool_connections=settings.sqs_max_connections,
        retries={"mode": "standard", "total_max_attempts": 3},
    )
    async with aioboto3.Session().client("sqs", config=config) as client:
        yield NativeQueue(client, settings.queue_name, settings.sqs_timeout)
