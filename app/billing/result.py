"""Defines what an attempt returns: its outcome, and the updates that write the outcome to the table."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from app.billing.charges import Billable
from app.billing.items import Update
from app.errors import Unprocessable

Outcome = Literal[
    "closed", "closed_without_charge", "closed_in_part", "left_pending", "recorded", "already", "superseded"
]


class Result(NamedTuple):
    """The outcome of an attempt, and the updates to write in the transaction that ends the attempt.

    `verdict`: the error with which each later attempt must end as well, or None if the attempt has succeeded. The table
    must store the verdict, because the updates remove its cause. `closed_as`: the id that Chargebee gave the invoice
    when it was closed, or "" if the outcome is `left_pending`.
    """

    outcome: Outcome
    updates: Sequence[Update] = ()
    verdict: Unprocessable | None = None
    closed_as: str = ""


def outcome_of(own: Iterable[Billable], *, in_part: bool) -> Outcome:
    """Returns the outcome for a closed invoice that bills `own`. `in_part`: whether usage was set aside."""
    if in_part:
        return "closed_in_part"
    return "closed" if positive(own) else "closed_without_charge"


def positive(billables: Iterable[Billable]) -> list[Billable]:
    """Returns the billable events that need a charge. An amount of 0 is billed without a charge."""
    return [one for one in billables if one.amount > 0]
