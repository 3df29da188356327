"""The client that a worker's queues share: aioboto3."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aioboto3
from aiobotocore.config import AioConfig

from app.settings import Settings
from app.sqs.queue import QueueAddress
from app.telemetry.record import ObserveCall
from app.worker.queue import ATTEMPTS, POLL_SECONDS, ConsumedQueue

CONNECTIONS = 64


def client_config(settings: Settings) -> AioConfig:
    """The client's time-outs and retries; each call has a deadline of its own besides."""
    return AioConfig(
        connect_timeout=settings.sqs_timeout / ATTEMPTS,
        read_timeout=POLL_SECONDS + settings.sqs_timeout,
        max_pool_connections=settings.sqs_max_connections or CONNECTIONS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )


@asynccontextmanager
async def open_queues(settings: Settings, observe: ObserveCall) -> AsyncIterator[tuple[ConsumedQueue, ConsumedQueue]]:
    """The queue and the dead-letter queue of `settings`. Calls nobody: SQS may be down. Raises ConfigurationError."""
    addresses = [QueueAddress.of(settings), QueueAddress.at(settings.require_dead_letter_queue_url())]
    async with aioboto3.Session().client("sqs", config=client_config(settings)) as client:
        queue, dead = (ConsumedQueue(client, address, settings.sqs_timeout, observe) for address in addresses)
        yield queue, dead
