"""The actors, which act while the workers run: a person, the writer of usage, SQS, `reconcile` and `redrive`.

An action is one step that the scheduler may take between any two calls. The action of a command starts the command as a
further process.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from app.billing.charges import Billable
from tests.simulation import persons
from tests.simulation.commands import reconcile_missing, redrive_all
from tests.simulation.documents import EXEMPT, OTHER, START, SUBSCRIPTION
from tests.simulation.run import Run
from tests.simulation.steps import Kind, Step, Traced

PERSON, WRITER, SQS, RECONCILE, REDRIVE = "a person", "the writer", "SQS", "reconcile", "redrive"


class Action(NamedTuple):
    """An action of an actor. `subject` returns what `do` acts on, or None if there is nothing to act on."""

    actor: str
    name: str
    subject: Callable[[Run], Any]
    do: Callable[[Run, Any], None]

    def __str__(self) -> str:
        return f"{self.actor} {self.name}"

    @property
    def starts(self) -> bool:
        """Returns whether the action starts a command. The command's first call needs no preemption."""
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


def _message(run: Run) -> str | None:
    return next(iter(run.source.messages), None)


def _drop(run: Run, message: str) -> None:
    del run.source.messages[message]
    run.facts.dropped.add(message)


def _dead_letter(run: Run) -> object:
    return next(iter(run.dead.messages), None)


def _command(start: Callable[[Run], None]) -> Callable[[Run, Any], None]:
    def do(run: Run, _: object) -> None:
        start(run)
        run.world.current = run.world.processes[-1]  # so that the switch to the command counts as no preemption

    return do


ACTIONS = (
    Action(PERSON, "closes an invoice", persons.pending, persons.close),
    Action(PERSON, "voids an invoice", persons.closed, persons.void),
    Action(PERSON, "closes and voids an invoice", persons.pending, persons.close_and_void),
    Action(PERSON, "deletes a pending invoice", persons.pending, persons.delete),
    Action(PERSON, "deletes a closed invoice", persons.closed, persons.delete),
    Action(PERSON, "regenerates an invoice", persons.voided, persons.regenerate),
    Action(PERSON, "voids and regenerates an invoice", persons.closed, persons.regenerating(persons.void)),
    Action(PERSON, "deletes and regenerates a pending invoice", persons.pending, persons.regenerating(persons.delete)),
    Action(PERSON, "deletes and regenerates a closed invoice", persons.closed, persons.regenerating(persons.delete)),
    Action(PERSON, "edits the amount of a charge", persons.charged, persons.edit(amount=7, unit_amount=7)),
    Action(PERSON, "edits the reference of a charge", persons.charged, persons.edit(description="Edited")),
    Action(PERSON, "edits the line of the plan", persons.pending, persons.edit_plan),
    Action(PERSON, "makes an invoice without a term", persons.pending, persons.make(line_items=persons.ADHOC)),
    Action(PERSON, "makes an invoice that does not recur", persons.pending, persons.make(recurring=False)),
    Action(PERSON, "makes an exempt invoice", persons.pending, persons.make(subscription_id=EXEMPT)),
    Action(WRITER, "repeats", _first, lambda run, usage: run.put(usage)),
    Action(WRITER, "corrects", _first, _correct),
    Action(WRITER, "adds late usage", _first, _add("late")),
    Action(WRITER, "adds usage in another currency", _first, _add("usd", currency="USD")),
    Action(WRITER, "adds usage of another subscription", _first, _add("other", subscription_id=OTHER)),
    Action(WRITER, "adds usage of no subscription", _first, _add("none", subscription_id=None)),
    Action(WRITER, "adds a negative amount", _first, _add("odd", -50)),
    Action(SQS, "drops a message at the end of its retention period", _message, _drop),
    Action(RECONCILE, "runs", _anything, _command(reconcile_missing)),
    Action(REDRIVE, "runs", _dead_letter, _command(redrive_all)),
)
