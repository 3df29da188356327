"""The invariants of a customer's charges over all invoices. They must be true whatever the actors do.

app/billing/README.md lists the exceptions in "What is assumed".
"""

from app.billing.charge_items import USAGE, charge_key
from app.billing.items import Item, claim_key, text
from app.billing.usage_report import Report
from local.chargebee.invoice import PENDING
from tests.simulation.charged import Charged, Line
from tests.simulation.facts import GONE, MISSING, VOIDED, Facts, Usage
from tests.simulation.queues import MemoryQueue, event_id
from tests.simulation.steps import Violation
from tests.simulation.world import World

LATER = 10**11


class Money:
    """Checks the customers' charges in one run. `dead`: the dead-letter queue."""

    def __init__(self, world: World, facts: Facts, dead: MemoryQueue, charged: Charged) -> None:
        self._world, self._facts, self._dead, self._charged = world, facts, dead, charged
        self._judged: dict[str, str | None] = {}

    def check(self) -> None:
        """Checks the invariants of every step."""
        for event, invoice_id in self._facts.events.items():
            claim = self._world.table.find(claim_key(event))
            invoice = self._world.site.site.invoices.get(invoice_id)
            is_closed = (text(claim, "outcome") or "").startswith("closed")
            if is_closed and invoice_id in self._facts.seen_void:
                raise Violation(f"{event} is done, but Chargebee had answered that {invoice_id} is void")
            if is_closed and invoice is not None and invoice.status == PENDING and not invoice.deleted:
                raise Violation(f"{event} is done, but {invoice_id} is pending")
            code = text(claim, "code") if text(claim, "status") == "failed" else None
            if self._judged.get(event) not in (None, code):
                raise Violation(f"the verdict on {event} was {self._judged[event]}, and is {code}")
            self._judged[event] = code
            if code is not None:
                self._require_free(event, invoice_id)
        for message in self._dead.messages.values():
            if event_id(message) in self._facts.events and message.reason not in self._facts.verdicts:
                raise Violation(f"{event_id(message)} is in the dead-letter queue, with the reason {message.reason}")

    def _require_free(self, event: str, invoice_id: str) -> None:
        """Raises Violation if an invoice whose event has a binding verdict keeps usage that is not billed on it.

        Checks nothing while another event of the invoice is in work, because that event may have reserved usage for the
        invoice again.
        """
        others = [one for one, invoice in self._facts.events.items() if invoice == invoice_id and one != event]
        if any(text(self._world.table.find(claim_key(one)), "status") == "working" for one in others):
            return
        for usage, charge in self._charged.items():
            if text(charge, "invoice_id") == invoice_id and "billed_at" not in charge:
                raise Violation(
                    f"{event} has a verdict, but {invoice_id} keeps the usage {usage[1]}, which is not billed"
                )

    def check_end(self) -> None:
        """Checks the invariants of the end. Checks nothing until `reconcile` has enqueued the dropped messages."""
        if self._facts.dropped:
            return
        self._charged.require_once()
        for event in self._facts.events:
            if text(self._world.table.find(claim_key(event)), "status") != "done" and not self._has_verdict(event):
                raise Violation(f"{event} is neither done nor a dead letter at the end")
        lines, report = list(self._charged.lines()), Report()
        for usage in self._facts.written:
            charge = self._world.table.find(charge_key(*usage))
            report.add(self._usage(usage), charge, LATER)
            self._require_end(usage, charge, [one for one in lines if one.usage == usage])
        listed = sum(group.number for group in report.groups.values())
        unbilled = sum("billed_at" not in self._world.table.find(charge_key(*one)) for one in self._facts.written)
        if listed != unbilled:
            raise Violation(f"`unbilled` lists {listed} of {unbilled} usage events that no invoice has")

    def _require_end(self, usage: Usage, charge: Item, lines: list[Line]) -> None:
        """Raises Violation if usage is not charged, and neither an outcome nor a verdict says so."""
        name, invoice_id, closed_as = usage[1], text(charge, "invoice_id"), text(charge, "closed_as")
        if any(not line.edited and invoice_id != line.invoice.id for line in lines):
            raise Violation(f"the usage {name} is charged on {lines[0].invoice.id}, but is not reserved for it")
        if invoice_id is None and "reason" in charge:
            event = charge["event_id"]["S"]
            in_part = text(self._world.table.find(claim_key(event)), "outcome") == "closed_in_part"
            in_part &= text(charge, "reason") not in (MISSING, VOIDED, GONE)
            if not (in_part or self._has_verdict(event)):
                raise Violation(f"the usage {name} is set aside, but neither outcome nor verdict of {event} says so")
        elif closed_as is not None:
            self._require_on_invoice(usage, closed_as, lines)
        elif usage in self._facts.due:
            events = [event for event, one in self._facts.events.items() if invoice_id in (None, one)]
            if not any(self._has_verdict(event) for event in events) and self._was_closed_by_worker(usage):
                raise Violation(f"the usage {name} is not charged, and no event of its invoice has a verdict")

    def _require_on_invoice(self, usage: Usage, closed_as: str, lines: list[Line]) -> None:
        """Raises Violation if billed usage is missing from its invoice, or its void invoice has a valid successor."""
        numbered = {one.number or one.id: one for one in self._world.site.site.invoices.values()}
        if not numbered[closed_as].is_void:
            if not lines:
                raise Violation(f"the usage {usage[1]} counts as billed on {closed_as}, which has no charge of it")
            return
        for invoice_id in self._facts.regenerated:
            new = numbered.get(invoice_id) or self._world.site.site.invoices[invoice_id]
            events = [event for event, one in self._facts.events.items() if one == invoice_id]
            if new.customer_id == usage[0] and not new.is_void and not any(map(self._has_verdict, events)):
                raise Violation(
                    f"the usage {usage[1]} is on the void {closed_as}, and not on its successor {invoice_id}"
                )

    def _was_closed_by_worker(self, usage: Usage) -> bool:
        """Returns whether an invoice of the usage's customer was closed, apart from `kept` invoices."""
        invoices = self._world.site.site.invoices.values()
        return any(one.customer_id == usage[0] and one.id not in self._facts.kept and one.closes for one in invoices)

    def _usage(self, usage: Usage) -> Item:
        return self._world.table.find({"pk": {"S": f"customer#{usage[0]}"}, "sk": {"S": f"{USAGE}{usage[1]}"}})

    def _has_verdict(self, event: str) -> bool:
        claim = self._world.table.find(claim_key(event))
        return text(claim, "status") == "failed" or any(map(event.__eq__, map(event_id, self._dead.messages.values())))
