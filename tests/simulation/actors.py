"""Who acts beside the workers: a person, the service that writes usage, and the commands `reconcile` and `redrive`.

An action is one step that the scheduler may take between any two calls. A command is a process: its action starts it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from app.billing.charges import Billable
from local.chargebee.corrections import Corrections
from local.chargebee.invoice import PENDING, StoredInvoice
from tests.simulation.commands import reconcile_missing, redrive_all
from tests.simulation.facts import GONE, MISSING, VOIDED
from tests.simulation.scenarios import OTHER, START, SUBSCRIPTION, Run
from tests.simulation.steps import Kind, Step, Traced, Violation

PERSON, WRITER, RECONCILE, REDRIVE = "a person", "the writer", "reconcile", "redrive"


class Action(NamedTuple):
    """What an actor does. `subject` returns what the actor acts on, or None if there is nothing."""

    actor: str
    name: str
    subject: Callable[[Run], Any]
    do: Callable[[Run, Any], None]

    def __str__(self) -> str:
        return f"{self.actor} {self.name}"

    @property
    def starts(self) -> bool:
        """Returns whether the action starts a command, whose first call follows."""
        return self.actor in (RECONCILE, REDRIVE)

    @property
    def step(self) -> Step:
        return Step(Kind.ACT, action=self)


def possible(run: Run) -> list[Step]:
    """Returns a step for each action that has something to act on."""
    return [action.step for action in ACTIONS if action.subject(run) is not None]


def act(run: Run, action: Action) -> None:
    run.world.trace.append(Traced(run.world.now, str(action), ""))
    run.facts.acted = True
    action.do(run, action.subject(run))


def check_recovery(run: Run) -> None:
    """Runs the commands after the end, and again. Raises Violation if the second time changes something."""
    seen = []
    for _ in range(2):
        for start in (redrive_all, reconcile_missing):
            start(run)
            while not run.is_over():
                run.world.take(run.world.steps(0, 0)[0])
                run.check()
        run.audit.check_end()
        seen.append(run.shown())
    if seen[0] != seen[1]:
        raise Violation(f"a later run of the commands changes {set(seen[0]) ^ set(seen[1])}")


def _invoices(run: Run) -> list[StoredInvoice]:
    found = run.world.site.site.invoices.values()
    free = [one for one in found if one.id not in run.facts.kept and one.id not in run.world.site.locked]
    return sorted(free, key=lambda one: one.id)


def _pending(run: Run) -> StoredInvoice | None:
    return next((one for one in _invoices(run) if one.status == PENDING and not one.deleted), None)


def _closed(run: Run) -> StoredInvoice | None:
    return next((one for one in _invoices(run) if one.status != PENDING and not one.is_void), None)


def _void(run: Run) -> StoredInvoice | None:
    """Returns a void invoice of a term of which no other invoice is pending or paid."""
    live = {one.customer_id for one in _invoices(run) if not one.is_void}
    return next((one for one in _invoices(run) if one.is_void and one.customer_id not in live), None)


def _charged(run: Run) -> StoredInvoice | None:
    found = _pending(run)
    return found if found is not None and found.charges else None


def _close(run: Run, invoice: StoredInvoice) -> None:
    run.world.site.site.close(invoice.id, None, run.world.unix(), renumber=run.scenario.renumber)
    run.facts.verdicts |= {MISSING, GONE}


def _void_it(run: Run, invoice: StoredInvoice) -> None:
    Corrections(run.world.site.site).void(invoice.number or invoice.id, run.world.unix())
    run.facts.verdicts |= {VOIDED, GONE}


def _delete(run: Run, invoice: StoredInvoice) -> None:
    Corrections(run.world.site.site).delete(invoice.number or invoice.id, run.world.unix())
    run.facts.verdicts |= {GONE}


def _edit(**changes: object) -> Callable[[Run, StoredInvoice], None]:
    def do(run: Run, invoice: StoredInvoice) -> None:
        line = invoice.charges[-1].id
        Corrections(run.world.site.site).edit_line_item(invoice.id, line, changes, run.world.unix())
        run.facts.verdicts |= {MISSING}

    return do


def _edit_plan(run: Run, invoice: StoredInvoice) -> None:
    changes = {"amount": 50, "unit_amount": 50, "description": "Plan, discounted"}
    Corrections(run.world.site.site).edit_line_item(invoice.id, f"li_{invoice.id}", changes, run.world.unix())


def _then(first: Callable[[Run, StoredInvoice], None]) -> Callable[[Run, StoredInvoice], None]:
    def do(run: Run, invoice: StoredInvoice) -> None:
        first(run, invoice)
        if _void(run) is invoice:
            _regenerate(run, invoice)

    return do


def _regenerate(run: Run, invoice: StoredInvoice) -> None:
    run.regenerate(invoice)


def _make(**changes: object) -> Callable[[Run, StoredInvoice], None]:
    return lambda run, invoice: run.make_kept(invoice.customer_id, changes)


def _first(run: Run) -> Billable | None:
    """Returns the newest version of the first usage of the first customer."""
    return next(iter(run.facts.written.values()))[-1]


def _correct(run: Run, usage: Billable) -> None:
    run.put(replace(usage, amount=usage.amount + 900))


def _add(name: str, amount: int = 777, **changes: Any) -> Callable[[Run, Billable], None]:
    def do(run: Run, first: Billable) -> None:
        made = Billable(name, amount, "More usage", START + 500, customer_id=first.customer_id)
        run.put(replace(made, **{"subscription_id": SUBSCRIPTION, **changes}))

    return do


def _anything(run: Run) -> Run:
    return run


def _dead_letter(run: Run) -> object:
    return next(iter(run.dead.messages), None)


def _command(start: Callable[[Run], None]) -> Callable[[Run, Any], None]:
    def do(run: Run, _: object) -> None:
        start(run)
        run.world.current = run.world.processes[-1]  # the command's first call follows without a preemption

    return do


REPAIR = {"id": "li_repair", "date_from": START, "date_to": START, "unit_amount": 100, "is_taxed": False}
ADHOC = [{**REPAIR, "description": "Repair", "entity_type": "adhoc"}]
ACTIONS = (
    Action(PERSON, "closes an invoice", _pending, _close),
    Action(PERSON, "voids an invoice", _closed, _void_it),
    Action(PERSON, "deletes a pending invoice", _pending, _delete),
    Action(PERSON, "deletes a closed invoice", _closed, _delete),
    Action(PERSON, "regenerates an invoice", _void, _regenerate),
    Action(PERSON, "voids and regenerates an invoice", _closed, _then(_void_it)),
    Action(PERSON, "deletes and regenerates a pending invoice", _pending, _then(_delete)),
    Action(PERSON, "deletes and regenerates a closed invoice", _closed, _then(_delete)),
    Action(PERSON, "edits the amount of a charge", _charged, _edit(amount=7, unit_amount=7)),
    Action(PERSON, "edits the reference of a charge", _charged, _edit(description="Edited")),
    Action(PERSON, "edits the line of the plan", _pending, _edit_plan),
    Action(PERSON, "makes an invoice without a term", _pending, _make(line_items=ADHOC)),
    Action(PERSON, "makes an invoice that does not recur", _pending, _make(recurring=False)),
    Action(WRITER, "repeats", _first, lambda run, usage: run.put(usage)),
    Action(WRITER, "corrects", _first, _correct),
    Action(WRITER, "adds late usage", _first, _add("late")),
    Action(WRITER, "adds usage in another currency", _first, _add("usd", currency="USD")),
    Action(WRITER, "adds usage of another subscription", _first, _add("other", subscription_id=OTHER)),
    Action(WRITER, "adds usage of no subscription", _first, _add("none", subscription_id=None)),
    Action(WRITER, "adds a negative amount", _first, _add("odd", -50)),
    Action(RECONCILE, "runs", _anything, _command(reconcile_missing)),
    Action(REDRIVE, "runs", _dead_letter, _command(redrive_all)),
)
