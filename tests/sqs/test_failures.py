"""Calls to a queue that refuses connections."""

import asyncio
from typing import Any

import pytest

from app.errors import QueueUnavailable
from app.sqs.blocking import build_queue
from app.sqs.message import Message
from app.sqs.native import open_queue
from app.sqs.queue import QueueAddress, SendLimits
from app.telemetry.record import CallRecord
from local.ports import free_port
from tests.harness import queues


async def _blocking(address: QueueAddress, observe: Any) -> None:
    await asyncio.to_thread(build_queue(address, SendLimits(), observe).send, Message("body", {}, 4))


async def _native(address: QueueAddress, observe: Any) -> None:
    async with open_queue(address, SendLimits(), observe) as queue:
        await queue.send(Message("body", {}, 4))


@pytest.mark.anyio
@pytest.mark.parametrize("send", [_blocking, _native])
async def test_the_record_has_the_retries(send: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore retries a refused connection, so the metric of retries must count these retries."""
    endpoint = f"http://127.0.0.1:{free_port()}"
    for name, value in queues.environment(endpoint).items():
        monkeypatch.setenv(name, value)
    records: list[CallRecord] = []
    with pytest.raises(QueueUnavailable):
        await send(QueueAddress.at(f"{endpoint}/000000000000/q"), records.append)
    assert {record.code for record in records} == {"EndpointConnectionError"}
    assert all(record.retries > 0 for record in records)
