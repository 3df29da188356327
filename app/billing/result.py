"""Defines what an attempt returns: its outcome, and the updates of the table that make the outcome last."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from app.billing.charges import Billable
from app.billing.items import Update
from app.errors import Unprocessable

Outcome = Literal[
    "closed", "closed_without_charge", "closed_in_part", "left_pending", "recorded", "already", "superseded"
]


class Result(NamedTuple):
    """The outcome of an attempt, and the updates to write in the transaction that ends it.

    `verdict`: an error that binds each later attempt, because the updates take away what has led to it. `closed_as`:
    the id that Chargebee gave the invoice when it was closed.
    """

    outcome: Outcome
    updates: Sequence[Update] = ()
    verdict: Unprocessable | None = None
    closed_as: str = ""


def outcome_of(own: Iterable[Billable], *, in_part: bool) -> Outcome:
    """Returns the outcome of an invoice that is closed with `own`. `in_part`: whether usage was set aside."""
    if in_part:
        return "closed_in_part"
    return "closed" if positive(own) else "closed_without_charge"


def positive(billables: Iterable[Billable]) -> list[Billable]:
    """Returns the billable events that have a charge on the invoice. An amount of 0 is billed without one."""
    return [one for one in billables if one.amount > 0]
