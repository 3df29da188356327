"""Describes the lines of invoices, and finds ad-hoc lines (one-time charges) that an event lacks, without I/O."""

from collections.abc import Iterable
from typing import NamedTuple

from app.billing.answers import FoundLine
from app.events import LineItem

# The type of the lines that Chargebee's add_charge adds (line_items.entity_type):
# https://apidocs.chargebee.com/docs/api/invoices
ADHOC = "adhoc"
# The latest end of a period, in unix seconds. The second after it must fit into the ten digits of a sort key's time.
LATEST_SECOND = 9_999_999_998
Line = LineItem | FoundLine


class Period(NamedTuple):
    """A billing period in unix seconds, which includes both `start` and `end`."""

    start: int
    end: int


def added(lines: Iterable[Line], first_lines: Iterable[Line]) -> list[Line]:
    """Returns the ad-hoc lines that were added to an invoice after Chargebee's event.

    `lines`: all lines of the invoice now; `first_lines`: the lines in the event.
    """
    first = {_identity(line) for line in first_lines}
    return [line for line in lines if line.entity_type == ADHOC and _identity(line) not in first]


def _identity(line: Line) -> object:
    return line.description, line.unit_amount, line.date_from, line.date_to
