"""The invariants of a charge: what a worker may add to an invoice, and how often.

app/billing/README.md lists the exceptions in "What is assumed".
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from app.billing.charge_items import CHARGE, USAGE, differs, read, suffix_of
from app.billing.charges import Billable
from app.billing.items import Item, text
from app.billing.references import described
from local.chargebee.charge import Charge
from local.chargebee.invoice import StoredInvoice
from tests.simulation.calls import Fault
from tests.simulation.facts import Facts, Usage
from tests.simulation.site import Request
from tests.simulation.steps import Violation
from tests.simulation.world import World

CURRENCY = "EUR"
INTERRUPTS = frozenset(Fault) - {Fault.REPEATED}


class Line(NamedTuple):
    """A charge of usage on an invoice. `edited`: whether a person has changed the charge."""

    usage: Usage
    invoice: StoredInvoice
    edited: bool


class Charged:
    """Checks the charges of one run."""

    def __init__(self, world: World, facts: Facts) -> None:
        self._world, self._facts = world, facts
        self._added: dict[str, tuple[Usage, Charge]] = {}  # by the id of the line

    def changed(self, request: Request, invoice: StoredInvoice) -> None:
        """Checks an invoice after Chargebee has executed a worker's call."""
        if invoice.id in self._facts.kept:
            raise Violation(f"{invoice.id} is to be left alone, and a worker has called {request.operation}")
        if request.operation == "add_charge":
            self._added[invoice.charges[-1].id] = self._reserved(invoice), invoice.charges[-1]
            self.require_once()
        elif self._facts.acted:
            on_it = {line.usage for line in self.lines() if line.invoice is invoice}
            for usage, charge in self.items():
                if text(charge, "invoice_id") == invoice.id and charge["amount"]["N"] != "0" and usage not in on_it:
                    raise Violation(f"{invoice.id} is closed before the usage {usage[1]} is charged")

    def require_once(self) -> None:
        """Raises Violation if usage has two charges. An edited charge may be repeated after an interruption."""
        lines = list(self.lines())
        counted = Counter(line.usage for line in lines if not (line.edited and self._was_interrupted()))
        for line in lines:
            if counted[line.usage] > 1:
                raise Violation(f"the usage {line.usage[1]} is charged twice on the invoices of {line.usage[0]}")

    def _was_interrupted(self) -> bool:
        return any(one.what in INTERRUPTS for one in self._world.trace)

    def _reserved(self, invoice: StoredInvoice) -> Usage:
        """Returns the usage of the invoice's last charge. Raises Violation if no reservation equals the charge."""
        charge = invoice.charges[-1]
        for usage, item in self.items():
            if text(item, "invoice_id") != invoice.id:
                continue
            one = read(usage[0], item)
            if (described(one), one.amount) == (charge.description, charge.amount):
                self._require_own(one, invoice, self._facts.written[usage])
                return usage
        raise Violation(f"{invoice.id} charges usage without a reservation: {charge.description} of {charge.amount}")

    def _require_own(self, one: Billable, invoice: StoredInvoice, written: list[Billable]) -> None:
        """Raises Violation if no version of the usage equals the charge, or if currency or subscription are wrong."""
        if all(differs(version, one) for version in written):
            raise Violation(f"{one.reference} is charged with {one.amount}, which its writer has never written")
        if one.currency not in (None, CURRENCY):
            raise Violation(f"{one.reference} in {one.currency} is charged on an invoice in {CURRENCY}")
        if one.subscription_id not in invoice.terms:
            raise Violation(f"{one.reference} of the subscription {one.subscription_id} is charged on {invoice.id}")

    def lines(self) -> Iterator[Line]:
        """Yields the charges of usage on all invoices that are not void."""
        for invoice in self._world.site.site.invoices.values():
            for charge in () if invoice.is_void else invoice.charges:
                if charge.id in self._added:
                    usage, added = self._added[charge.id]
                    yield Line(usage, invoice, (charge.amount, charge.description) != (added.amount, added.description))

    def items(self) -> Iterator[tuple[Usage, Item]]:
        """Yields the charge items of usage that is reserved for an invoice or billed on it."""
        for (pk, sk), item in self._world.table.items.items():
            if sk.startswith((CHARGE, USAGE)) and "amount" in item and "invoice_id" in item:
                yield (pk.removeprefix("customer#"), suffix_of(item)), item
