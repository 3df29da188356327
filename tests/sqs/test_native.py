"""The asynchronous client: its start, and what an answer to a batch says."""

import asyncio
import gc
import json
from types import FrameType

import pytest

from app.errors import QueueUnavailable
from app.sqs import native
from app.sqs.message import Message
from app.sqs.native import WARM_CONNECTIONS, open_queue
from app.sqs.queue import QueueAddress, SendLimits
from app.telemetry.record import CallRecord
from tests.harness.sqs_stand_in import Fault, SqsStandIn, acknowledging, close

pytestmark = pytest.mark.anyio

MESSAGE = Message("body", {}, 4)


async def test_the_start_opens_connections(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first message finds the URL resolved and a connection open."""
    monkeypatch.setattr(native, "WARM_SECONDS", 60)
    async with open_queue(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        await queue.warm()
        before = {call.peer for call in sqs.calls}
        await queue.send(MESSAGE)
        assert len(before) == sqs.count("GetQueueUrl") == WARM_CONNECTIONS
        assert {call.peer for call in sqs.calls} == before


async def test_sqs_is_down_at_the_start(sqs: SqsStandIn) -> None:
    """The start does not fail; the first message that finds SQS up resolves the URL."""
    sqs.raw = {"GetQueueUrl": (500, b"oops")}
    before = asyncio.all_tasks()
    async with open_queue(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        await queue.warm()
        assert asyncio.all_tasks() == before  # a task that continues would outlive the client
        sqs.raw = {}
        await queue.send(MESSAGE)
    assert sqs.messages == ["body"]


async def test_sqs_hangs_at_the_start(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start goes on after WARM_SECONDS."""
    monkeypatch.setattr(native, "WARM_SECONDS", 0.2)
    sqs.hold("GetQueueUrl")
    async with open_queue(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        await queue.warm()
        sqs.release()
        await queue.send(MESSAGE)
    assert sqs.messages == ["body"]


async def test_an_entry_in_both_lists_of_an_answer(sqs: SqsStandIn) -> None:
    """An entry in both lists has failed; the other one has not."""
    failed = {"Failed": [{"Id": "0-1", "Code": "InternalError", "SenderFault": False}]}
    answer = acknowledging(["0-0", "0-1"]) | failed
    sqs.raw = {"SendMessageBatch": (200, json.dumps(answer).encode())}
    async with open_queue(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        deadline = asyncio.get_running_loop().time() + 60
        first, second = await queue.send_batch([MESSAGE] * 2, deadline, CallRecord("SendMessageBatch"))
    assert first is None
    assert isinstance(second, QueueUnavailable)
    assert second.cause == "InternalError"


async def test_an_answer_to_another_call(sqs: SqsStandIn) -> None:
    """An answer to another call acknowledges nothing, because no two calls have an entry's id in common."""
    async with open_queue(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        deadline = asyncio.get_running_loop().time() + 60
        assert await queue.send_batch([MESSAGE], deadline, CallRecord("SendMessageBatch")) == [None]
        answer = acknowledging([entry["Id"] for entry in sqs.calls[-1].data["Entries"]])
        sqs.raw = {"SendMessageBatch": (200, json.dumps(answer).encode())}
        [outcome] = await queue.send_batch([MESSAGE], deadline, CallRecord("SendMessageBatch"))
    assert getattr(outcome, "cause", None) == "Unanswered"


def kept_frames(file: str) -> list[str]:
    """The functions of `file` whose frames only the garbage collector could free."""
    gc.collect()
    frames = [found for found in gc.garbage if isinstance(found, FrameType)]
    return [frame.f_code.co_name for frame in frames if frame.f_code.co_filename == file]


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200", b"garbage\r\n\r\n"])
async def test_an_error_keeps_no_call(sqs: SqsStandIn, sent: bytes) -> None:
    """The frames of a failed call, with its messages, are in no cycle of botocore's or aiohttp's."""
    sqs.fault = Fault(lambda ids: sent, close)
    async with open_queue(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            deadline = asyncio.get_running_loop().time() + 60
            with pytest.raises(QueueUnavailable):
                await queue.send_batch([MESSAGE], deadline, CallRecord("SendMessageBatch"))
            assert kept_frames(native.__file__) == []
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
