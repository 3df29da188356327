"""The scenarios: which events are in the queue, which workers run, and which faults may happen."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from app.billing.api_calls import ApiCalls
from app.billing.chargebee import Chargebee
from app.billing.charges import Billable, billable_key
from app.billing.dynamodb import Table
from app.billing.processing import Billing
from app.billing.rate import SharedRateLimit
from app.events import PENDING_INVOICE_CREATED
from app.sqs.queue import QueueAddress
from app.telemetry.observers import Observers
from app.telemetry.record import unobserved
from app.worker.consumed_queue import ConsumedQueue
from app.worker.work import Worker, WorkerLimits
from local.chargebee.invoice import StoredInvoice
from tests.simulation.audit import Audit, Expected
from tests.simulation.calls import Fault
from tests.simulation.facts import Facts, Usage
from tests.simulation.processes import EPOCH, QUEUE_DEADLINE, TABLE_DEADLINE, Process
from tests.simulation.queues import Choose as ChooseMessages
from tests.simulation.queues import MemoryQueue, MemorySqs, event_id, oldest
from tests.simulation.site import KEY_SECONDS, MemorySite, Request, SiteSession
from tests.simulation.world import World

SOURCE, DEAD = "invoices", "dead-letters"
# The customers have a second subscription, of which no invoice comes.
SUBSCRIPTION, OTHER = "sub", "other"
LEASE, CALL_TIMEOUT, VISIBILITY = 30.0, 10.0, 30
# A process that stalls is away for longer than its lease, with the allowed difference of the clocks.
STALL = LEASE * (1 + 1 / 12) + 1
START, END = EPOCH - 30 * 86_400, EPOCH
# The events are so old that an invoice that Chargebee does not know will not become known.
OCCURRED = EPOCH - 3600


def middle(low: float, high: float) -> float:
    """Replaces random numbers by the middle of their range, so that runs with the same calls have the same times."""
    return (low + high) / 2


STALLS = frozenset({Fault.STALLS_BEFORE, Fault.STALLS_AFTER, Fault.STALLS_WAITING})
DIES = frozenset({Fault.DIES_BEFORE, Fault.DIES_AFTER})


@dataclass(frozen=True)
class Scenario:
    """The events in the queue, and what may happen to the workers that process them.

    - `invoices`: for each invoice, the versions of its events; `copies`: how often SQS has each event.
    - `faults`: the kinds of faults; `key_seconds`: how long Chargebee keeps idempotency keys.
    - `overlapping`: all invoices are of one customer and one period.
    - `delay`: seconds until SQS delivers an invoice's second event.
    - `visibility`: the visibility timeout of a received message, which the heartbeat extends.
    - `late_billable`: when Chargebee closes an invoice, another billable event of its period is stored.
    - `renumber`: a closed invoice has another id than its draft.
    - `poison`: Chargebee has no invoice, and SQS has a body that is no event; `extra_poison`: only the latter.
    """

    name: str
    invoices: tuple[tuple[int, ...], ...] = ((1,),)
    copies: int = 2
    workers: int = 2
    charges: int = 2
    rate: int = 150
    faults: frozenset[Fault] = frozenset(Fault)
    key_seconds: float = KEY_SECONDS
    overlapping: bool = False
    delay: float = 0.0
    visibility: int = VISIBILITY
    late_billable: bool = False
    renumber: bool = True
    poison: bool = False
    extra_poison: bool = False


class Run:
    """One run of a scenario, from its start."""

    def __init__(self, scenario: Scenario, choose: ChooseMessages = oldest) -> None:
        self.scenario = scenario
        self.bodies: list[str] = []
        self.facts = Facts()
        self.world = world = World(STALL, CALL_TIMEOUT, scenario.faults)
        dead = MemoryQueue(DEAD)
        source = MemoryQueue(SOURCE, dead)
        expected = [_expected(number, len(events), scenario) for number, events in enumerate(scenario.invoices)]
        self.audit = Audit(world, {one.invoice_id: one for one in expected}, self.facts, source, dead)
        notified = (self._changed, self.audit.limited)
        world.site = MemorySite(scenario.rate, world.unix, *notified, scenario.key_seconds, renumber=scenario.renumber)
        world.sqs = MemorySqs(lambda: world.now, self.audit.deleted, choose)
        self.source, self.dead = world.sqs.add(source), world.sqs.add(dead)
        world.site.site.subscriptions.put({"id": OTHER, "customer_id": "cus_0", "status": "active"})
        for one, versions in zip(expected, scenario.invoices, strict=True):
            self._deliver(one, versions)
        if scenario.poison or scenario.extra_poison:
            source.send("{}", {}, world.now)
        for number in range(scenario.workers):
            self.start_worker(f"W{number + 1}")

    def start_worker(self, name: str, skew: float = 0.0, draw: Callable[[float, float], float] = middle) -> Process:
        process = Process(self.world, name, skew, draw)
        self.world.processes.append(process)
        process.start(lambda process: work(process, self.scenario))
        return process

    def check(self) -> None:
        """Raises Violation if an invariant does not hold now."""
        self.world.check()
        self.audit.check()

    def shown(self) -> set[str]:
        """Returns what a command must not change, without times: invoices, what they have, verdicts, dead letters."""
        names = ("invoice_id", "closed_as", "reason", "amount", "status", "code", "outcome")
        items = [(key, *map(item.get, names)) for key, item in self.world.table.items.items() if key[1] != "order"]
        letters = Counter((event_id(one), str(one.attributes.get("reason"))) for one in self.dead.messages.values())
        return set(map(repr, (*items, *self.world.site.invoices(), *letters.items())))

    def is_over(self) -> bool:
        """Returns whether every message has ended, and nothing more will happen."""
        world = self.world
        return not (
            self.source.messages
            or world.stalled
            or world.late
            or any(process.is_working() for process in world.awake())
        )

    def _changed(self, request: Request, invoice: StoredInvoice) -> None:
        """Checks an invoice that Chargebee has changed, and stores the late billable event when it is closed."""
        self.audit.changed(request, invoice)
        if self.scenario.late_billable and request.operation == "close":
            late = Billable(f"late-{invoice.id}", 1, "Late usage", START + 500, subscription_id=SUBSCRIPTION)
            late = replace(late, customer_id=invoice.customer_id)
            if not self.world.table.find(billable_key(invoice.customer_id, late)):
                self.put(late)

    def put(self, usage: Billable, *, due: bool = False) -> None:
        """Puts a usage event, as its writer does. `due`: an invoice that is still to come covers it."""
        self.facts.write(usage, due=due)
        self.world.table.put(_item(usage))

    def regenerate(self, old: StoredInvoice) -> None:
        """Makes a pending invoice in the place of a void one, without its charges, and delivers the event."""
        self.facts.regenerated.add(self._make(f"{old.id}r", old.customer_id, {}))
        self.facts.due |= {usage for usage in self.facts.written if self._is_covered(usage)}

    def make_kept(self, customer_id: str, changes: Mapping[str, Any]) -> None:
        """Makes a pending invoice that the worker must leave alone, and delivers the event."""
        self.facts.kept.add(self._make(f"kept_{len(self.facts.kept)}", customer_id, changes))

    def _make(self, invoice_id: str, customer_id: str, changes: Mapping[str, Any]) -> str:
        expected = Expected(invoice_id, customer_id, (), (f"ev_{invoice_id}",))
        body = event_of(expected.events[0], expected, 1) | {"occurred_at": int(self.world.unix())}
        body["content"]["invoice"] |= changes
        self.world.site.site.register({"event": body}, self.world.unix())
        self.facts.events[expected.events[0]] = invoice_id
        self.source.send(orjson.dumps(body).decode(), {}, self.world.now)
        return invoice_id

    def _is_covered(self, usage: Usage) -> bool:
        newest = self.facts.written[usage][-1]
        return newest.subscription_id == SUBSCRIPTION and newest.currency is None and newest.amount > 0

    def _deliver(self, expected: Expected, versions: tuple[int, ...]) -> None:
        world = self.world
        for billable in expected.billables:
            self.put(billable, due=not expected.missing)
        for number, (event, version) in enumerate(zip(expected.events, versions, strict=True)):
            body = event_of(event, expected, version)
            if not expected.missing:
                self.facts.events[event] = expected.invoice_id
                world.site.site.register({"event": body}, EPOCH)
            self.bodies.append(orjson.dumps(body).decode())
            for _ in range(self.scenario.copies):
                self.source.send(self.bodies[-1], {}, world.now).visible_at += number * self.scenario.delay


async def work(process: Process, scenario: Scenario) -> None:
    """The composition root of a simulated worker: production code on the world's clients."""
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
    return Billing(table, chargebee, process.name, LEASE)


def event_of(event: str, expected: Expected, version: int) -> dict[str, Any]:
    """Returns the body of a pending_invoice_created."""
    line = {"date_from": START, "date_to": END, "unit_amount": 100, "is_taxed": False, "description": "Plan"}
    invoice = {
        "id": expected.invoice_id,
        "customer_id": expected.customer_id,
        "subscription_id": SUBSCRIPTION,
        "recurring": True,
        "status": "pending",
        "price_type": "tax_exclusive",
        "currency_code": "EUR",
        "tax": 0,
        "sub_total": 100,
        "term_finalized": True,
        "is_gifted": False,
        "resource_version": version,
        "line_items": [{**line, "id": f"li_{expected.invoice_id}", "entity_type": "plan_item_price"}],
    }
    return {
        "id": event,
        "occurred_at": OCCURRED,
        "source": "scheduled_job",
        "object": "event",
        "api_version": "v2",
        "event_type": PENDING_INVOICE_CREATED,
        "webhook_status": "scheduled",
        "content": {"invoice": invoice},
    }


def _expected(invoice: int, events: int, scenario: Scenario) -> Expected:
    customer = 0 if scenario.overlapping else invoice
    billables = tuple(
        Billable(
            *(f"b{customer}-{one}", 100 + one, f"Usage {one}", START + one),
            customer_id=f"cus_{customer}",
            subscription_id=SUBSCRIPTION,
        )
        for one in range(scenario.charges)
    )
    names = tuple(f"ev_{invoice}_{event}" for event in range(events))
    shared, missing = scenario.overlapping, scenario.poison
    return Expected(f"inv_{invoice}", f"cus_{customer}", billables, names, shared, missing)


def _item(billable: Billable) -> dict[str, Any]:
    optional = {"subscription_id": billable.subscription_id, "currency": billable.currency}
    return {
        **billable_key(billable.customer_id, billable),
        "id": {"S": billable.id},
        "amount": {"N": str(billable.amount)},
        "description": {"S": billable.description},
        "occurred_at": {"N": str(billable.occurred_at)},
        **{name: {"S": value} for name, value in optional.items() if value is not None},
    }


# With this limit, a slot is never in the future. So time does not pass between two calls, and more orders of calls lead
# to the same state. The scenario with a low limit has slots that are apart.
UNLIMITED = 1_000_000_000
TWICE = Scenario("one event, delivered twice", rate=UNLIMITED)
# Without idempotency keys, two workers must not work at the same time, and no call may reach Chargebee late.
SAFE_WITHOUT_KEYS = DIES | {Fault.STALLS_AFTER, Fault.STALLS_WAITING}
# Another event of the invoice has other keys. So a worker that stalls before its call would charge again.
SAFE_WITH_OTHER_KEYS = frozenset(Fault) - {Fault.STALLS_BEFORE}
# A call that reaches Chargebee late counts in another minute than its slot.
IN_TIME = SAFE_WITHOUT_KEYS | {Fault.LOST, Fault.REPEATED}
# Each action beside the workers meets each crash point and each lost answer. With all faults, this would take hours.
BESIDE = Scenario("one event, delivered once", copies=1, rate=UNLIMITED, faults=DIES | {Fault.LOST})
SCENARIOS = (
    TWICE,
    Scenario("without idempotency keys", faults=SAFE_WITHOUT_KEYS, key_seconds=1e-6),
    Scenario("work longer than a lease", charges=6, rate=4, faults=SAFE_WITHOUT_KEYS, key_seconds=1e-6),
    # Without a heartbeat, a worker learns from the table alone that it has lost the event.
    Scenario(
        "longer than a lease, no heartbeat",
        charges=6,
        rate=4,
        faults=SAFE_WITHOUT_KEYS,
        key_seconds=1e-6,
        visibility=300,
    ),
    # A worker that has lost its claim receives the third copy, while the other worker processes the second one.
    Scenario(
        "three deliveries, no heartbeat",
        copies=3,
        charges=6,
        rate=30,
        faults=STALLS & SAFE_WITHOUT_KEYS,
        key_seconds=1e-6,
        visibility=300,
    ),
    Scenario("a late billable event", late_billable=True, renumber=False),
    Scenario("two versions of an invoice", ((1, 2),), copies=1, faults=SAFE_WITH_OTHER_KEYS),
    Scenario("a second version, later", ((1, 2),), copies=1, delay=12.0, faults=SAFE_WITH_OTHER_KEYS),
    Scenario("two invoices, one period", ((1,), (1,)), copies=1, overlapping=True),
    Scenario("a low rate limit", ((1,), (1,)), copies=1, rate=4, faults=IN_TIME),
    Scenario("poison", copies=1, poison=True),
    BESIDE,
)
