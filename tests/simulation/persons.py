"""Defines the actions of a person on invoices at Chargebee, and which invoice the person chooses."""

from collections.abc import Callable

from local.chargebee.corrections import Corrections
from local.chargebee.invoice import PENDING, StoredInvoice
from tests.simulation.documents import START
from tests.simulation.facts import GONE, MISSING, VOIDED
from tests.simulation.run import Run

REPAIR = {"id": "li_repair", "date_from": START, "date_to": START, "unit_amount": 100, "is_taxed": False}
ADHOC = [{**REPAIR, "description": "Repair", "entity_type": "adhoc"}]
Do = Callable[[Run, StoredInvoice], None]


def _invoices(run: Run) -> list[StoredInvoice]:
    found = run.world.site.site.invoices.values()
    free = [one for one in found if one.id not in run.facts.kept and one.id not in run.world.site.locked]
    return sorted(free, key=lambda one: one.id)


def pending(run: Run) -> StoredInvoice | None:
    return next((one for one in _invoices(run) if one.status == PENDING and not one.deleted), None)


def closed(run: Run) -> StoredInvoice | None:
    return next((one for one in _invoices(run) if one.status != PENDING and not one.is_void), None)


def voided(run: Run) -> StoredInvoice | None:
    """Returns a void invoice of a customer who has no valid invoice, or None."""
    live = {one.customer_id for one in _invoices(run) if not one.is_void}
    return next((one for one in _invoices(run) if one.is_void and one.customer_id not in live), None)


def charged(run: Run) -> StoredInvoice | None:
    found = pending(run)
    return found if found is not None and found.charges else None


def close(run: Run, invoice: StoredInvoice) -> None:
    _close(run, invoice)
    run.facts.verdicts |= {MISSING, GONE}


def _close(run: Run, invoice: StoredInvoice) -> None:
    run.world.site.site.close(invoice.id, None, run.world.unix(), renumber=run.scenario.renumber)


def void(run: Run, invoice: StoredInvoice) -> None:
    Corrections(run.world.site.site).void(invoice.number or invoice.id, run.world.unix())
    run.facts.verdicts |= {VOIDED, GONE}


def close_and_void(run: Run, invoice: StoredInvoice) -> None:
    _close(run, invoice)
    void(run, invoice)


def delete(run: Run, invoice: StoredInvoice) -> None:
    Corrections(run.world.site.site).delete(invoice.number or invoice.id, run.world.unix())
    run.facts.verdicts |= {GONE}


def edit(**changes: object) -> Do:
    """Returns a function that changes the fields of the invoice's last charge."""

    def do(run: Run, invoice: StoredInvoice) -> None:
        line = invoice.charges[-1].id
        Corrections(run.world.site.site).edit_line_item(invoice.id, line, changes, run.world.unix())
        run.facts.verdicts |= {MISSING}

    return do


def edit_plan(run: Run, invoice: StoredInvoice) -> None:
    changes = {"amount": 50, "unit_amount": 50, "description": "Plan, discounted"}
    Corrections(run.world.site.site).edit_line_item(invoice.id, f"li_{invoice.id}", changes, run.world.unix())


def regenerate(run: Run, invoice: StoredInvoice) -> None:
    run.regenerate(invoice)


def regenerating(first: Do) -> Do:
    """Returns a function that does `first`, and then regenerates the invoice if Chargebee allows that."""

    def do(run: Run, invoice: StoredInvoice) -> None:
        first(run, invoice)
        if voided(run) is invoice:
            regenerate(run, invoice)

    return do


def make(**changes: object) -> Do:
    """Returns a function that makes another invoice of the customer, which the worker must leave alone."""
    return lambda run, invoice: run.make_kept(invoice.customer_id, changes)
