"""Group commit, with the real client, against a stand-in SQS that waits and fails on demand."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.errors import InvalidEvent, QueueUnavailable
from app.sqs.group_commit import GroupCommit, open_group_commit
from app.sqs.message import Message
from app.sqs.native import open_queue
from app.sqs.pending import PendingSend
from app.sqs.queue import QueueAddress, SendLimits
from tests.harness.sqs_stand_in import MIB, Call, Failure, SqsStandIn

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def group_commit(sqs: SqsStandIn, fifo: bool = False, **chosen: Any) -> AsyncIterator[GroupCommit]:
    limits = SendLimits(**chosen)
    address = QueueAddress.at(f"{sqs.queue_url}{'.fifo' if fifo else ''}")
    async with open_queue(address, limits) as queue, open_group_commit(queue, limits) as group:
        yield group


def message(body: str) -> Message:
    return Message(body, {"event_id": body[:40]}, len(body.encode()) + len("event_idString") + len(body[:40].encode()))


async def wait_for(sqs: SqsStandIn, number: int) -> None:
    await asyncio.to_thread(sqs.wait_for, "SendMessageBatch", number)


def batches(sqs: SqsStandIn) -> list[list[str]]:
    return [call.bodies for call in sqs.calls if call.action == "SendMessageBatch"]


async def send(group: GroupCommit, *bodies: str) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(group.send(message(body))) for body in bodies]
    await asyncio.sleep(0)  # each has taken its place
    return tasks


async def test_an_idle_service_sends_at_once(sqs: SqsStandIn) -> None:
    """There is no timer: one webhook is a batch of one."""
    async with group_commit(sqs) as group:
        await group.send(message("alone"))
    assert batches(sqs) == [["alone"]]


async def test_ten_that_wait_leave_in_one_call(sqs: SqsStandIn) -> None:
    """Ten waiting webhooks leave together when a slot becomes free. The eleventh waits for the next slot."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=4, full_calls=4) as group:
        first = await send(group, "1", "2", "3", "4")
        await wait_for(sqs, 4)
        later = await send(group, *(f"later {number}" for number in range(11)))
        sqs.release(1)
        await wait_for(sqs, 5)
        assert batches(sqs)[4] == [f"later {number}" for number in range(10)]
        assert not any(task.done() for task in later)
        sqs.release()
        await asyncio.gather(*first, *later)
    assert len(batches(sqs)) == 6


async def test_a_full_batch_needs_no_slot(sqs: SqsStandIn) -> None:
    """A call begins without a free slot only when ten webhooks wait, and only up to the maximum of calls."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=2, full_calls=4) as group:
        tasks = await send(group, "1", "2", *map(str, range(100, 109)))
        await wait_for(sqs, 2)
        assert [len(batch) for batch in batches(sqs)] == [1, 1]
        tasks += await send(group, "109")
        await wait_for(sqs, 3)
        tasks += await send(group, *map(str, range(200, 220)))
        await wait_for(sqs, 4)
        assert [len(batch) for batch in batches(sqs)] == [1, 1, 10, 10]
        sqs.release()
        await asyncio.gather(*tasks)
    assert batches(sqs)[2] == [str(number) for number in range(100, 110)]
    assert len(sqs.messages) == 32


async def test_a_full_batch_of_bytes_needs_no_slot(sqs: SqsStandIn) -> None:
    """Few long messages fill a call as well."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, call_bytes=1000) as group:
        tasks = await send(group, "1", "2" * 600)
        await wait_for(sqs, 1)
        tasks += await send(group, "3" * 600)
        await wait_for(sqs, 2)
        assert [[body[0] for body in batch] for batch in batches(sqs)] == [["1"], ["2"]]
        sqs.release()
        await asyncio.gather(*tasks)
    assert [batch[0][0] for batch in batches(sqs)] == ["1", "2", "3"]


async def test_fifo_sends_one_batch_at_a_time(sqs: SqsStandIn) -> None:
    """Two at once could change the order."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, fifo=True, calls=4) as group:
        tasks = await send(group, "a", *"bcdefghijkl")
        await wait_for(sqs, 1)
        sqs.release()
        await asyncio.gather(*tasks)
    assert batches(sqs) == [["a"], [*"bcdefghijk"], ["l"]]


async def test_a_failed_entry_fails_its_own_caller(sqs: SqsStandIn) -> None:
    """A 200 may contain failed entries. A fault of the entry is distinguished from a fault of SQS."""
    sqs.refusing = {"bad": "InvalidMessageContents", "unlucky": "InternalError"}.get
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        tasks = await send(group, "good", "bad", "unlucky", "fine")
        sqs.release()
        outcomes = await asyncio.gather(first, *tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [
        type(None),
        type(None),
        InvalidEvent,
        QueueUnavailable,
        type(None),
    ]
    assert sqs.messages == ["first", "good", "fine"]


async def test_what_one_entry_may_have_caused_is_tried_one_by_one(sqs: SqsStandIn) -> None:
    """If the whole call gets 400, only the entry that caused it fails; the others are sent."""

    def failing(call: Call) -> Failure | None:
        return Failure(400, "InvalidParameterValue") if "poison" in call.bodies else None

    sqs.failing = failing
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        tasks = await send(group, "good", "poison", "fine")
        sqs.release()
        outcomes = await asyncio.gather(first, *tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), QueueUnavailable, type(None)]
    assert sqs.messages == ["first", "good", "fine"]


@pytest.mark.parametrize(
    ("status", "code", "calls"),
    [(400, "RequestThrottled", 3), (403, "AccessDenied", 1), (400, "KmsThrottled", 1), (500, "InternalError", 3)],
)
async def test_what_concerns_every_call_is_not_multiplied(sqs: SqsStandIn, status: int, code: str, calls: int) -> None:
    """The whole batch fails after botocore's attempts for the call. Its entries are not tried one by one."""
    sqs.failing = lambda call: Failure(status, code) if len(call.bodies) > 1 else None
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        tasks = await send(group, *(str(number) for number in range(10)))
        sqs.release()
        outcomes = await asyncio.gather(first, *tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None)] + [QueueUnavailable] * 10
    assert {outcome.cause for outcome in outcomes if isinstance(outcome, QueueUnavailable)} == {code}
    assert [len(batch) for batch in batches(sqs)] == [1] + [10] * calls


async def test_a_batch_that_is_too_long_is_split(sqs: SqsStandIn) -> None:
    """If SQS allows less than configured, the halves are sent, in order."""
    sqs.failing = lambda call: Failure(400, "BatchRequestTooLong") if len(call.bodies) > 3 else None
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1) as group:
        tasks = await send(group, "first")
        await wait_for(sqs, 1)
        tasks += await send(group, *(str(number) for number in range(10)))
        sqs.release()
        await asyncio.gather(*tasks)
    assert sqs.messages == ["first", *(str(number) for number in range(10))]
    assert [len(batch) for batch in batches(sqs)] == [1, 10, 5, 3, 2, 5, 3, 2]


async def test_each_caller_has_its_own_deadline(sqs: SqsStandIn) -> None:
    """APP_SQS_TIMEOUT includes the wait. A message that is not sent by then is removed, and is never sent."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, deadline=1) as group:
        tasks = await send(group, "in a call", "waiting")
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [QueueUnavailable, QueueUnavailable]
        sent = [outcome.sent for outcome in outcomes if isinstance(outcome, QueueUnavailable)]
        assert sent == [True, False]
        sqs.release()
        group._deadline = 60
        await group.send(message("later"))
    assert "waiting" not in sqs.messages
    assert "later" in sqs.messages


async def test_a_call_goes_on_for_the_younger_ones(sqs: SqsStandIn) -> None:
    """When the oldest caller of a batch times out, its call continues."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, deadline=60) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        [old] = await send(group, "old")
        oldest = group._waiting[0]
        [young] = await send(group, "young")
        sqs.release(1)
        await first
        await wait_for(sqs, 2)
        group._expire(oldest)  # its deadline, before the young one's
        with pytest.raises(QueueUnavailable):
            await old
        sqs.release()
        await young
    assert sqs.messages == ["first", "old", "young"]


async def test_connecting_has_a_part_of_the_time(sqs: SqsStandIn) -> None:
    """A connection attempt without an answer is repeated: all attempts fit into the deadline."""
    async with open_queue(QueueAddress.at(sqs.queue_url), SendLimits(deadline=6)) as queue:
        config: Any = queue._client.meta.config
    assert config.connect_timeout * config.retries["total_max_attempts"] == 6


async def test_closing_while_a_batch_is_tried_one_by_one(sqs: SqsStandIn) -> None:
    """Acknowledged callers get their success, and no caller hangs."""
    sqs.failing = lambda call: Failure(400, "InvalidParameterValue") if len(call.bodies) > 1 else None
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        tasks = await send(group, "acknowledged", "held", "not begun")
        for number in (2, 3, 4):  # the batch of three, then the first of them alone, then the second
            sqs.release(1)
            await wait_for(sqs, number)
        await group.close(0.05)
        outcomes = await asyncio.wait_for(asyncio.gather(first, *tasks, return_exceptions=True), 10)
    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), QueueUnavailable, QueueUnavailable]


async def test_a_late_message_of_a_rejected_batch_is_not_sent_again(sqs: SqsStandIn) -> None:
    """The message is dropped, because its webhook has got 503, and Chargebee will send the webhook again."""
    sqs.failing = lambda call: Failure(400, "InvalidParameterValue") if len(call.bodies) > 1 else None
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, deadline=60) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        tasks = await send(group, "late", "young")
        late = group._waiting[0]
        sqs.release(1)
        await first
        await wait_for(sqs, 2)
        late.deadline -= 60
        sqs.release()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [getattr(outcome, "cause", None) for outcome in outcomes] == ["Timeout", None]
    assert sqs.messages == ["first", "young"]


async def test_a_5xx_fails_every_caller_in_the_call(sqs: SqsStandIn) -> None:
    """The caller gets QueueUnavailable with SQS's code, and no message is stored."""
    sqs.failing = lambda call: Failure(500, "InternalError") if call.action == "SendMessageBatch" else None
    async with group_commit(sqs) as group:
        with pytest.raises(QueueUnavailable) as error:
            await group.send(message("x"))
    assert error.value.cause == "InternalError"
    assert sqs.messages == []


async def test_an_entry_that_the_answer_does_not_mention(sqs: SqsStandIn) -> None:
    """The send fails if SQS's answer contains no acknowledgement of the message."""
    take = sqs._take_batch
    sqs._take_batch = lambda entries: {**take(entries), "Successful": []}  # type: ignore[method-assign]  # a liar
    async with group_commit(sqs) as group:
        with pytest.raises(QueueUnavailable, match="send this webhook again"):
            await group.send(message("x"))


async def test_a_caller_that_leaves_is_still_sent(sqs: SqsStandIn) -> None:
    """The caller may be cancelled while it waits, or while its call is in progress."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1) as group:
        [under_way] = await send(group, "under way")
        await wait_for(sqs, 1)
        [waiting] = await send(group, "waiting")
        under_way.cancel()
        waiting.cancel()
        await asyncio.gather(under_way, waiting, return_exceptions=True)
        sqs.release()
    assert sqs.messages == ["under way", "waiting"]


async def test_closing_flushes(sqs: SqsStandIn) -> None:
    """Closing first sends the messages that are waiting."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, full_calls=1) as group:
        tasks = await send(group, *(str(number) for number in range(25)))
        await wait_for(sqs, 1)
        sqs.release()
    assert [task.exception() for task in tasks] == [None] * 25
    assert sqs.messages == [str(number) for number in range(25)]


async def test_closing_fails_what_sqs_does_not_take_in_time(sqs: SqsStandIn) -> None:
    """The callers get QueueUnavailable, and none of them hangs."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1) as group:
        tasks = await send(group, "under way", "waiting")
        await wait_for(sqs, 1)
        await group.close(0.05)
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [QueueUnavailable, QueueUnavailable]


# aiohttp warns that a body of 1 MiB takes the loop a while; that is known, and nothing to fail for.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_batches_keep_within_the_sum(sqs: SqsStandIn) -> None:
    """A call has at most 1 MiB, attributes included; the stand-in rejects more. A message of 1 MiB goes alone."""
    sizes = [MIB - 60, 400_000, 400_000, 400_000, 10, MIB - 60, 10, 10]
    bodies = [f"{number}".ljust(size, "x") for number, size in enumerate(sizes)]
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, full_calls=1, call_bytes=MIB) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        tasks = await send(group, *bodies)
        sqs.release()
        await asyncio.gather(first, *tasks)
    assert sqs.messages == ["first", *bodies]
    assert [len(batch) for batch in batches(sqs)] == [1, 1, 2, 2, 1, 2]
    assert sqs.count("SendMessage") == 0


async def test_a_caller_that_left_has_no_deadline_any_more(sqs: SqsStandIn) -> None:
    """The deadline of a cancelled caller passes without an error after the group commit has been closed."""
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(str(context)))
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, deadline=1) as group:
        under_way, left = await send(group, "under way", "left")
        left.cancel()
        await group.close(0)  # which drops what waits, before its deadline
        ended = loop.create_future()
        loop.call_later(1.2, ended.set_result, None)  # the deadlines are over
        await ended
        sqs.release()
        await asyncio.gather(under_way, left, return_exceptions=True)
    assert complaints == []


async def test_a_refused_webhook_is_freed_at_once(sqs: SqsStandIn) -> None:
    """No garbage collection is needed, because collections are rare, and an outage refuses many webhooks."""
    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, deadline=1) as group:
        gc.collect()
        gc.disable()
        try:
            refused = await asyncio.gather(*await send(group, "in a call", "waiting"), return_exceptions=True)
            assert [type(error) for error in refused] == [QueueUnavailable] * 2
            sqs.release()
            await group.close(10)
            assert [one for one in gc.get_objects() if type(one) is PendingSend] == []  # others may be dead proxies
        finally:
            gc.enable()


async def test_one_timer_for_all_deadlines(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many webhooks wait, the event loop has one timer for them, which moves on to the next deadline."""
    loop = asyncio.get_running_loop()
    timers: list[float] = []

    def call_at(when: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
        timers.append(when)
        return type(loop).call_at(loop, when, *arguments, **options)

    sqs.hold("SendMessageBatch")
    async with group_commit(sqs, calls=1, full_calls=1, deadline=1) as group:
        [first] = await send(group, "first")
        await wait_for(sqs, 1)
        monkeypatch.setattr(loop, "call_at", call_at)
        early = await send(group, *(str(number) for number in range(100)))
        await asyncio.sleep(0.5)
        began = loop.time()
        [late] = await send(group, "late")
        outcomes = await asyncio.gather(first, *early, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {QueueUnavailable}
        assert not late.done() or loop.time() - began > 0.8  # a pause of the machine may last until its deadline
        with pytest.raises(QueueUnavailable):
            await late
        monkeypatch.undo()
        assert 0.8 < loop.time() - began < 30
        assert len(timers) < 50  # for a hundred webhooks
        sqs.release()


async def test_a_callback_gets_the_outcome_once(sqs: SqsStandIn) -> None:
    """`submit` calls back with None, or with the error that `send` raises, and never before it has returned."""
    sqs.refusing = {"bad": "InvalidMessageContents"}.get
    settled: list[type[object]] = []
    async with group_commit(sqs) as group:
        for body in ("good", "bad"):
            group.submit(message(body), lambda refused: settled.append(type(refused)))
        assert settled == []
    assert sorted(map(str, settled)) == sorted(map(str, [type(None), InvalidEvent]))
