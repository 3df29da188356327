"""The asynchronous client's start."""

import pytest

from app.settings import Settings
from app.sqs import native
from app.sqs.message import Message
from app.sqs.native import WARM_CONNECTIONS, open_queue
from tests.harness.sqs_stand_in import SqsStandIn

pytestmark = pytest.mark.anyio

MESSAGE = Message("body", {}, 4)


async def test_the_start_opens_connections(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first message finds the URL resolved and a connection open."""
    monkeypatch.setattr(native, "WARM_SECONDS", 60)
    async with open_queue(Settings(sqs_queue_url=sqs.queue_url)) as queue:
        before = {call.peer for call in sqs.calls}
        await queue.send(MESSAGE)
        assert len(before) == sqs.count("GetQueueUrl") == WARM_CONNECTIONS
        assert {call.peer for call in sqs.calls} == before


async def test_sqs_is_down_at_the_start(sqs: SqsStandIn) -> None:
    """The start does not fail; the first message that finds SQS up resolves the URL."""
    sqs.raw = {"GetQueueUrl": (500, b"oops")}
    async with open_queue(Settings(sqs_queue_url=sqs.queue_url)) as queue:
        sqs.raw = {}
        await queue.send(MESSAGE)
    assert sqs.messages == ["body"]


async def test_sqs_hangs_at_the_start(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start goes on after WARM_SECONDS."""
    monkeypatch.setattr(native, "WARM_SECONDS", 0.2)
    sqs.hold("GetQueueUrl")
    async with open_queue(Settings(sqs_queue_url=sqs.queue_url)) as queue:
        sqs.release()
        await queue.send(MESSAGE)
    assert sqs.messages == ["body"]
