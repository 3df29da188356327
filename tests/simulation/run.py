"""One run of a scenario: its world, its events, its workers, and what has happened so far."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from app.billing.charges import Billable, billable_key
from app.billing.items import claim_key, text
from local.chargebee.invoice import StoredInvoice
from tests.simulation.audit import Audit
from tests.simulation.documents import OTHER, START, SUBSCRIPTION, Expected, event_of, expected_of, item_of
from tests.simulation.facts import Facts, Usage
from tests.simulation.processes import EPOCH, Process
from tests.simulation.queues import Choose as ChooseMessages
from tests.simulation.queues import MemoryQueue, MemorySqs, StoredMessage, event_id, oldest
from tests.simulation.scenarios import Scenario
from tests.simulation.site import MemorySite, Request, content_of
from tests.simulation.workers import CALL_TIMEOUT, DEAD, SOURCE, STALL, middle, work
from tests.simulation.world import World


class Run:
    """One run of a scenario, from its start."""

    def __init__(self, scenario: Scenario, choose: ChooseMessages = oldest) -> None:
        self.scenario = scenario
        self.bodies: list[str] = []
        self.facts = Facts()
        self.world = world = World(STALL, CALL_TIMEOUT, scenario.faults)
        dead = MemoryQueue(DEAD)
        source = MemoryQueue(SOURCE, dead)
        expected = [expected_of(number, len(events), scenario) for number, events in enumerate(scenario.invoices)]
        self.audit = Audit(world, {one.invoice_id: one for one in expected}, self.facts, source, dead)
        notified = (self._changed, self.audit.limited)
        world.site = MemorySite(scenario.rate, world.unix, *notified, scenario.key_seconds, renumber=scenario.renumber)
        world.site.on_void = self._see_void
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

    def shown(self) -> dict[str, object]:
        """Returns the contents that a repetition of the commands must not change, by name and without times."""
        names = ("invoice_id", "closed_as", "reason", "amount", "status", "code", "outcome")
        items = {
            f"the item {pk} {sk}": [*map(item.get, names)]
            for (pk, sk), item in self.world.table.items.items()
            if sk != "order"
        }
        invoices = {f"the invoice {one.id}": content_of(one) for one in self.world.site.site.invoices.values()}
        letters = Counter(
            f"the number of dead letters of {event_id(one)} with the reason {one.reason}"
            for one in self.dead.messages.values()
        )
        return {**items, **invoices, **letters}

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
        """Checks an invoice that Chargebee has changed. After its close, writes the scenario's late billable event."""
        self.audit.changed(request, invoice)
        if self.scenario.late_billable and request.operation == "close":
            late = Billable(f"late-{invoice.id}", 1, "Late usage", START + 500, subscription_id=SUBSCRIPTION)
            late = replace(late, customer_id=invoice.customer_id)
            if not self.world.table.find(billable_key(invoice.customer_id, late)):
                self.put(late)

    def _see_void(self, invoice_id: str) -> None:
        """Notes that a worker has found the invoice void, unless an event of the invoice was done before."""
        claims = [claim_key(event) for event, one in self.facts.events.items() if one == invoice_id]
        if all(text(self.world.table.find(claim), "status") != "done" for claim in claims):
            self.facts.seen_void.add(invoice_id)

    def put(self, usage: Billable, *, due: bool = False) -> None:
        """Writes a usage event, as its writer does. `due`: True if a later invoice covers the usage event."""
        self.facts.write(usage, due=due)
        self.world.table.put(item_of(usage))

    def regenerate(self, old: StoredInvoice) -> None:
        """Makes a pending invoice that replaces `old`, without the charges of `old`, and delivers the event."""
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
        self.send(orjson.dumps(body).decode())
        return invoice_id

    def send(self, body: str) -> StoredMessage:
        """Enqueues the message of an event, as the webhook does."""
        event = {"DataType": "String", "StringValue": str(orjson.loads(body)["id"])}
        return self.source.send(body, {"event_id": event}, self.world.now)

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
                self.send(self.bodies[-1]).visible_at += number * self.scenario.delay
