"""The task of a message fails outside of the billing work, which handles its own errors."""

import asyncio
import json
from typing import Any

import pytest
from loguru import logger

from app.events import Event
from app.telemetry.observers import Observers
from app.worker import poller
from app.worker.consumed_queue import FailedEntry
from app.worker.in_flight_message import MessageState
from app.worker.received_message import ReceivedMessage
from app.worker.work import Worker, WorkerLimits
from tests.billing.stage import event_body

pytestmark = pytest.mark.anyio


class OneMessage:
    """A queue that delivers one message, and no other."""

    fifo = False

    def __init__(self) -> None:
        self._messages = [ReceivedMessage("id", "handle", "{}", {})]

    async def receive(self, *_: object) -> list[ReceivedMessage]:
        if not self._messages:
            await asyncio.Event().wait()
        return [self._messages.pop()]


class Broken:
    """Traces with a bug."""

    def begin(self, _: bytes | None) -> None:
        raise RuntimeError("a bug")

    observe = observe_call = begin


async def test_a_task_that_fails_gives_its_message_up() -> None:
    """The message is no longer in flight: the heartbeat does not hide it for hours, and its place is free."""
    queue: Any = OneMessage()
    observers: Any = Observers(tracing=Broken())  # type: ignore[arg-type]
    worker = Worker(WorkerLimits(2, 10, 30, 30.0, 60, 5), (queue, queue), None, frozenset(), observers)  # type: ignore[arg-type]
    failed = asyncio.Event()
    sink = logger.add(lambda message: failed.set() if "The task of a message has failed" in message else None)
    running = asyncio.create_task(worker.run())
    try:
        await failed.wait()
        assert (worker.consumer.working, len(worker.in_flight)) == (0, 0)
    finally:
        logger.remove(sink)
        worker.stop(patient=False)
        await running


class Fifo:
    """A FIFO queue without messages."""

    fifo = True


async def test_a_worker_without_room_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker does not poll, but its poller looks for room again and again, so liveness does not restart it."""
    monkeypatch.setattr(poller, "POLL_SECONDS", 0.01)
    queue: Any = Fifo()
    limits = WorkerLimits(0, 0, 30, 30.0, idle=60, grace=5)
    worker = Worker(limits, (queue, queue), None, frozenset(), Observers())  # type: ignore[arg-type]
    running = asyncio.create_task(worker.poller.run())
    for _ in range(2):
        worker.poller._active_at -= 100
        assert worker.not_alive() == "The last poll was 100 s ago"
        while worker.not_alive():  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.01)
    worker.poller.stop()
    await running


async def test_a_message_that_is_lost_before_its_task_begins() -> None:
    """The message's FIFO group is free for the next receive."""
    queue: Any = Fifo()
    limits = WorkerLimits(2, 10, 30, 30.0, 60, 5)
    worker = Worker(limits, (queue, queue), None, frozenset(), Observers())  # type: ignore[arg-type]
    worker.consumer.take([ReceivedMessage("id", "handle", "{}", {}, group="g")])
    [message] = worker.in_flight._messages.values()
    worker.in_flight.lose(message, "ReceiptHandleIsInvalid")
    while worker.consumer.working:  # noqa: ASYNC110  # no event
        await asyncio.sleep(0)
    assert worker.in_flight._order._behind == {}


async def test_a_message_that_is_received_again_while_sqs_refuses_its_old_handle() -> None:
    """The newest receipt handle is valid, so the message stays in flight."""

    class Redelivering(Fifo):
        async def change_visibility(self, _: object) -> list[FailedEntry]:
            worker.consumer.take([ReceivedMessage("id", "new", "{}", {}, group="g")])
            return [FailedEntry("ReceiptHandleIsInvalid", final=True)]

    queue: Any = Redelivering()
    limits = WorkerLimits(0, 10, 30, 30.0, 60, 5)  # no task begins
    worker = Worker(limits, (queue, queue), None, frozenset(), Observers())  # type: ignore[arg-type]
    message = worker.in_flight.add(ReceivedMessage("id", "old", "{}", {}, group="g"))
    assert await worker.heartbeat.extend_all()
    assert message.state is not MessageState.LOST
    assert (message.received.receipt_handle, len(worker.in_flight)) == ("new", 1)


async def _nothing(*_: object) -> list[FailedEntry | None]:
    return [None] * 10


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "FIFO"])
async def test_a_message_whose_visibility_has_ended_is_not_begun(*, fifo: bool) -> None:
    """Another worker may have the waiting message, although no extension has failed yet. So it is given up."""
    queue: Any = Fifo()
    queue.fifo, queue.delete, queue.change_visibility = fifo, _nothing, _nothing
    begun, first_may_end = [], asyncio.Event()

    async def process(event: Event) -> str:
        begun.append(event.id)
        await first_may_end.wait()
        return "closed"

    limits = WorkerLimits(1, 10, 30, 30.0, 60, 5)
    worker = Worker(limits, (queue, queue), process, frozenset({"pending_invoice_created"}), Observers())
    bodies = [json.dumps(event_body() | {"id": f"ev_{number}"}) for number in range(3)]
    worker.consumer.take([ReceivedMessage(f"m{n}", "handle", body, {}, group="g") for n, body in enumerate(bodies)])
    while not begun:  # noqa: ASYNC110  # no event
        await asyncio.sleep(0)
    expired = worker.in_flight._messages["m1"]
    expired.extend(asyncio.get_running_loop().time() - 30, 29)
    first_may_end.set()
    while worker.consumer.working:  # noqa: ASYNC110  # no event
        await asyncio.sleep(0)
    # On a FIFO queue, the later message of the group goes back as well, so that the group stays in order.
    assert begun == (["ev_0"] if fifo else ["ev_0", "ev_2"])
    assert expired.state is MessageState.LOST
    assert worker.in_flight.waiting == 0
    worker.in_flight.close()
