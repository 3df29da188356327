"""A 200 for SendMessage acknowledges the message that was sent, or none: every client checks that."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import aioboto3
import pytest

from app.errors import QueueUnavailable
from app.sqs.blocking import build_queue
from app.sqs.failures import NotAcknowledgedError
from app.sqs.message import Message
from app.sqs.native import open_queue
from app.sqs.queue import QueueAddress, SendLimits
from app.telemetry.record import unobserved
from app.worker.consumed_queue import ConsumedQueue
from tests.harness.sqs_stand_in import SqsStandIn

pytestmark = pytest.mark.anyio

MESSAGE = Message("body", {}, 4)
MD5 = "841a2d689ad86bd1611447453c22c6fc"  # of MESSAGE
OTHER = "d41d8cd98f00b204e9800998ecf8427e"  # of an empty body


async def native(url: str) -> None:
    async with open_queue(QueueAddress.at(url), SendLimits()) as queue:
        await queue.send(MESSAGE)


async def blocking(url: str) -> None:
    await asyncio.to_thread(build_queue(QueueAddress.at(url), SendLimits()).send, MESSAGE)


async def worker(url: str) -> None:
    async with aioboto3.Session().client("sqs") as client:
        await ConsumedQueue(client, QueueAddress.at(url), 60, unobserved).send(MESSAGE.parameters())


NO_IDS: list[object] = [None, True, {"a": 1}, "", " "]
WRONG: list[dict[str, object]] = [{"MessageId": "m", "MD5OfMessageBody": OTHER}, {"MessageId": "m"}]
WRONG += [{"MessageId": name, "MD5OfMessageBody": MD5} for name in NO_IDS]


@pytest.mark.parametrize("send", [native, blocking, worker])
@pytest.mark.parametrize("answer", WRONG, ids=str)
async def test_an_answer_that_does_not_acknowledge_the_message(
    answer: dict[str, object], send: Callable[[str], Awaitable[None]], sqs: SqsStandIn
) -> None:
    """The send fails if the answer has the MD5 of another body, no MD5, or no valid MessageId."""
    sqs.raw = {"SendMessage": (200, json.dumps(answer).encode())}
    with pytest.raises((QueueUnavailable, NotAcknowledgedError)) as error:
        await send(sqs.queue_url)
    assert getattr(error.value, "cause", None) in {None, "NotAcknowledgedError"}


@pytest.mark.parametrize("send", [native, blocking, worker])
async def test_an_answer_that_acknowledges_the_message(send: Callable[[str], Awaitable[None]], sqs: SqsStandIn) -> None:
    """The send succeeds if the answer has a MessageId and the MD5 of the body."""
    sqs.raw = {"SendMessage": (200, json.dumps({"MessageId": "m", "MD5OfMessageBody": MD5}).encode())}
    await send(sqs.queue_url)
