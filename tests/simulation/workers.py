"""Builds a simulated worker, and defines its time-outs and the length of a stall."""

from typing import Any

from app.billing.api_calls import ApiCalls
from app.billing.chargebee import Chargebee
from app.billing.dynamodb import Table
from app.billing.processing import Billing
from app.billing.rate import SharedRateLimit
from app.events import PENDING_INVOICE_CREATED
from app.sqs.queue import QueueAddress
from app.telemetry.observers import Observers
from app.telemetry.record import unobserved
from app.worker.consumed_queue import ConsumedQueue
from app.worker.work import Worker, WorkerLimits
from tests.simulation.documents import EXEMPT
from tests.simulation.processes import QUEUE_DEADLINE, TABLE_DEADLINE, Process
from tests.simulation.scenarios import Scenario
from tests.simulation.site import SiteSession

SOURCE, DEAD = "invoices", "dead-letters"
LEASE, CALL_TIMEOUT = 30.0, 10.0
# Seconds for which a process stalls: longer than its lease plus the allowed difference of the clocks.
STALL = LEASE * (1 + 1 / 12) + 1


def middle(low: float, high: float) -> float:
    """Replaces random numbers by the middle of their range, so that runs with the same calls have the same times."""
    return (low + high) / 2


async def work(process: Process, scenario: Scenario) -> None:
    """Runs the production code of the worker with simulated clients."""
    world = process.world
    client = process.client(world.sqs, QUEUE_DEADLINE)
    queues = [ConsumedQueue(client, QueueAddress(name, None), QUEUE_DEADLINE, unobserved) for name in (SOURCE, DEAD)]
    limits = WorkerLimits(
        concurrency=1, prefetch=0, visibility=scenario.visibility, first_retry=30.0, idle=100.0, grace=30.0
    )
    process_event = billing(process, scenario.rate).process
    observers: Observers[Any] = Observers()
    worker = Worker(limits, (queues[0], queues[1]), process_event, frozenset({PENDING_INVOICE_CREATED}), observers)
    process.is_working = lambda: bool(worker.consumer.working)
    await worker.run()


def billing(process: Process, rate: int) -> Billing:
    """Returns the billing work of a simulated process."""
    world = process.world
    table = Table(process.client(world.table, TABLE_DEADLINE), "billing")
    rate_limit = SharedRateLimit(table, rate)
    session: Any = SiteSession(process.request)
    chargebee = Chargebee(ApiCalls(session, rate_limit, CALL_TIMEOUT, LEASE))
    return Billing(table, chargebee, process.name, LEASE, frozenset({EXEMPT}))
