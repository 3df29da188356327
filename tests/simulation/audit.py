"""The invariants: what must be true at every step of a run, and what must be true at the end of the run."""

from collections import Counter
from collections.abc import Iterable, Mapping

from app.billing.charge_items import charge_key
from app.billing.charges import Billable
from app.billing.items import claim_key, invoice_key, number, text
from app.billing.references import described
from app.worker.dead_letters import REASON_ATTRIBUTES
from local.chargebee.invoice import PENDING, StoredInvoice
from tests.simulation.charged import Charged
from tests.simulation.documents import Expected
from tests.simulation.facts import Facts
from tests.simulation.money import Money
from tests.simulation.queues import MemoryQueue, StoredMessage, event_id
from tests.simulation.site import Request
from tests.simulation.steps import Violation
from tests.simulation.world import World

# A run that has not ended after this number of virtual seconds makes no progress.
LONGEST = 4 * 3600.0
REASON = frozenset(REASON_ATTRIBUTES)  # attributes that only dead letters have


class Audit:
    """Checks one run. `expected`: what each invoice must contain, by invoice id.

    Until an actor acts, each invoice must have exactly its charges, and `dead` may only contain events of missing
    invoices and bodies that are no event. After an actor has acted, `Money` checks the invariants that remain.
    """

    def __init__(
        self, world: World, expected: Mapping[str, Expected], facts: Facts, source: MemoryQueue, dead: MemoryQueue
    ) -> None:
        self._world, self._expected, self._facts = world, expected, facts
        self._charged = Charged(world, facts)
        self._money = Money(world, facts, dead, self._charged)
        self._source, self._dead = source, dead
        self._events = {event for one in expected.values() if not one.missing for event in one.events}
        self._closable = [one for one in expected.values() if not one.missing]
        self._done: set[str] = set()
        self._versions: dict[str, int] = {}

    def changed(self, request: Request, invoice: StoredInvoice) -> None:
        """Checks an invoice after Chargebee has executed a call."""
        if not self._facts.acted:
            self._changed_alone(request, invoice)
        self._charged.changed(request, invoice)

    def _changed_alone(self, request: Request, invoice: StoredInvoice) -> None:
        expected = self._expected[invoice.id]
        charges = Counter(one for other in self._invoices(expected.customer_id) for one in _charges(other))
        wanted = Counter((described(one), one.amount) for one in expected.billables)
        if charges - wanted:
            raise Violation(f"{invoice.id} charges usage again: {', '.join(_names(charges - wanted))}")
        if request.operation == "close":
            own = [one for one in expected.billables if not expected.shared or self._has_reserved(expected, one)]
            missing = Counter((described(one), one.amount) for one in own) - Counter(_charges(invoice))
            if missing:
                raise Violation(f"{invoice.id} is closed before its charges: {', '.join(_names(missing))}")
        if len(invoice.closes) > 1:
            raise Violation(f"{invoice.id} is closed twice")

    def limited(self) -> None:
        """Raises Violation, because Chargebee has rejected a call that exceeds the rate limit."""
        raise Violation("Chargebee gets more calls in a minute than its limit allows")

    def deleted(self, queue: MemoryQueue, message: StoredMessage) -> None:
        """Checks that the event of a deleted message is done, or that another message has the same body."""
        others = [*self._source.messages.values(), *self._dead.messages.values()]
        event = event_id(message)
        is_done = text(self._world.table.find(claim_key(event)), "status") == "done"
        may_be_dead = event not in self._events or (self._facts.acted and not is_done)
        if queue is self._dead or (may_be_dead and not is_done):
            if not any(
                one.body == message.body and message.attributes.keys() - REASON <= one.attributes.keys()
                for one in others
            ):
                raise Violation(f"{message.id} is deleted, and no queue has its body with its attributes")
            return
        if not is_done:
            raise Violation(f"{message.id} is deleted, but {event} is not done")

    def check(self) -> None:
        """Checks the invariants of every step."""
        if self._world.now > LONGEST:
            raise Violation(f"the run has not ended after {LONGEST:.0f} s")
        done = {event for event in self._events if self._is_done(event)}
        if self._done - done:
            raise Violation(f"{', '.join(self._done - done)} was done, and is not done any more")
        self._done = done
        if self._facts.acted:
            self._money.check()
            return
        for one in self._closable:
            if self._invoice(one).status == PENDING and any(map(self._is_closing, one.events)):
                raise Violation(f"an event of {one.invoice_id} is done, but the invoice is pending")
            self._check_version(one)
        for message in self._dead.messages.values():
            if event_id(message) in self._events or not message.reason:
                raise Violation(f"{event_id(message)} is in the dead-letter queue, with the reason {message.reason}")

    def check_end(self) -> None:
        """Checks the invariants of the end, when every message has ended."""
        if self._facts.acted:
            self._money.check_end()
            return
        for one in self._closable:
            if len(self._invoice(one).closes) != 1:
                raise Violation(f"{one.invoice_id} was closed {len(self._invoice(one).closes)} times")
            charged = Counter(charge for invoice in self._invoices(one.customer_id) for charge in _charges(invoice))
            if charged != Counter((described(billable), billable.amount) for billable in one.billables):
                raise Violation(f"{one.customer_id} has the charges {', '.join(_names(charged))}")
            for billable in one.billables:
                item = self._world.table.find(charge_key(one.customer_id, billable.suffix))
                if text(item, "invoice_id") not in self._expected or "billed_at" not in item:
                    raise Violation(f"{billable.reference} is not billed in the table")
        for event in self._events:
            if not self._is_done(event):
                raise Violation(f"{event} is not done at the end")

    def _check_version(self, one: Expected) -> None:
        version = number(self._world.table.find(invoice_key(one.invoice_id)), "resource_version") or 0
        if version < self._versions.get(one.invoice_id, 0):
            raise Violation(f"{one.invoice_id} was processed with the older version {version}")
        self._versions[one.invoice_id] = version

    def _invoice(self, one: Expected) -> StoredInvoice:
        return self._world.site.site.invoices[one.invoice_id]

    def _invoices(self, customer_id: str) -> Iterable[StoredInvoice]:
        return (one for one in self._world.site.site.invoices.values() if one.customer_id == customer_id)

    def _has_reserved(self, one: Expected, billable: Billable) -> bool:
        item = self._world.table.find(charge_key(one.customer_id, billable.suffix))
        return text(item, "invoice_id") == one.invoice_id

    def _is_done(self, event: str) -> bool:
        item = self._world.table.find(claim_key(event))
        return event not in self._events or text(item, "status") == "done"

    def _is_closing(self, event: str) -> bool:
        return (text(self._world.table.find(claim_key(event)), "outcome") or "").startswith("closed")


def _charges(invoice: StoredInvoice) -> Iterable[tuple[str, int]]:
    return ((charge.description, charge.amount) for charge in invoice.charges)


def _names(charges: Iterable[tuple[str, int]]) -> Iterable[str]:
    return (f"{name} of {amount}" for name, amount in charges)
