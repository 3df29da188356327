"""Runs `redrive` and `reconcile` as processes of the simulated world, at the same time as the workers."""

from contextlib import suppress
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from app.errors import QueueUnavailable
from app.events import PENDING_INVOICE_CREATED
from app.sqs.message import Message
from app.sqs.queue import QueueAddress
from app.telemetry.record import unobserved
from app.worker.consumed_queue import ConsumedQueue
from app.worker.event_comparison import Comparison, filters
from app.worker.one_by_one import move_one_by_one
from tests.simulation.documents import OCCURRED
from tests.simulation.processes import QUEUE_DEADLINE, Process
from tests.simulation.run import Run
from tests.simulation.steps import Violation
from tests.simulation.workers import DEAD, SOURCE, billing, middle

WANTED = frozenset({PENDING_INVOICE_CREATED})


def redrive_all(run: Run) -> None:
    """Starts a process that moves the dead letters back to the queue."""

    async def main(process: Process) -> None:
        queue, dead = _queue(process, SOURCE), _queue(process, DEAD)
        with suppress(OSError, BotoCoreError, ClientError):  # the client's errors end the command
            await move_one_by_one(queue, dead, None, lambda _moved, _total: None)

    _start(run, "redrive", main)


def reconcile_missing(run: Run) -> None:
    """Starts a process that enqueues the events that were not processed."""

    async def main(process: Process) -> None:
        queue, work = _queue(process, SOURCE), billing(process, run.scenario.rate)

        async def send(message: Message) -> None:
            try:
                await queue.send(message.parameters())
            except Exception as error:
                raise QueueUnavailable("no answer", type(error).__name__) from None

        events = work.chargebee.list_events(**filters(WANTED, OCCURRED - 10, OCCURRED + 100_000))
        await Comparison(send, WANTED, fifo=False).run(events, work.known, lambda _: None)

    _start(run, "reconcile", main)


def check_recovery(run: Run) -> None:
    """Runs both commands twice after the end. Raises Violation if the second time changes something."""
    seen = []
    for _ in range(2):
        for start in (redrive_all, reconcile_missing):
            start(run)
            while not run.is_over():
                run.world.take(run.world.steps(0, 0)[0])
                run.check()
        run.facts.dropped.clear()
        run.audit.check_end()
        seen.append(run.shown())
    first, second = seen
    for name in sorted(first.keys() | second.keys()):
        before, after = first.get(name), second.get(name)
        if before != after:
            raise Violation(f"a second run of the commands changes {name} from {before} to {after}")


def _queue(process: Process, name: str) -> ConsumedQueue:
    client: Any = process.client(process.world.sqs, QUEUE_DEADLINE)
    return ConsumedQueue(client, QueueAddress(name, None), QUEUE_DEADLINE, unobserved)


def _start(run: Run, name: str, main: Any) -> None:
    number = sum(process.name.startswith(name) for process in run.world.processes)
    process = Process(run.world, f"{name}{number}", 0.0, middle)
    process.is_working = lambda: not process.has_ended
    run.world.processes.append(process)
    process.start(main)
