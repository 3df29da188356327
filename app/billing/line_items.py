"""Finds an invoice's ad-hoc line items (one-time charges), and the billing period of its other lines, without I/O."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from app.errors import Unprocessable

# The type of the lines that Chargebee's add_charge adds (line_items.entity_type):
# https://apidocs.chargebee.com/docs/api/invoices
ADHOC = "adhoc"
# The latest end of a period, in unix seconds: the table's sort keys have only ten digits for the time.
LATEST_SECOND = 9_999_999_998


class Period(NamedTuple):
    """A billing period in unix seconds, which includes both `start` and `end`."""

    start: int
    end: int


class Line(Protocol):
    """A line item in an event or in Chargebee's answer. `unit_amount` is in minor units."""

    @property
    def unit_amount(self) -> int: ...
    @property
    def date_from(self) -> int: ...
    @property
    def date_to(self) -> int: ...
    @property
    def description(self) -> str: ...
    @property
    def entity_type(self) -> str: ...
    @property
    def subscription_id(self) -> object: ...
    @property
    def customer_id(self) -> object: ...


def added(lines: Iterable[Line], first_lines: Iterable[Line]) -> list[Line]:
    """Returns the ad-hoc lines of an invoice that were added later than Chargebee's event.

    `lines`: all lines of the invoice now; `first_lines`: the lines in the event.
    """
    first = {_identity(line) for line in first_lines}
    return [line for line in lines if line.entity_type == ADHOC and _identity(line) not in first]


def period(lines: Iterable[Line], first_lines: Sequence[Line], occurred_at: int) -> Period:
    """Returns the billing period: from the earliest start to the latest end of the subscription's lines.

    The subscription's lines are all lines that are not ad-hoc, whatever type they have. If `lines` has no such line,
    all of `first_lines` count instead. These are the lines of Chargebee's event, before any charge was added. If the
    event has no line either, the period is all time until `occurred_at`.

    Raises Unprocessable if the period begins before 1970, ends before it begins, or ends after LATEST_SECOND.
    """
    counted = [line for line in lines if line.entity_type != ADHOC] or first_lines
    found = Period(0, occurred_at)
    if counted:
        found = Period(min(line.date_from for line in counted), max(line.date_to for line in counted))
    if not 0 <= found.start <= found.end <= LATEST_SECOND:
        raise Unprocessable("The invoice's period ends before it begins, or after the year 2286", "invalid_period")
    return found


def _identity(line: Line) -> object:
    return line.description, line.unit_amount, line.date_from, line.date_to
