"""The line items of an invoice: tells ad-hoc lines from others, and derives the billing period. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from app.errors import Unprocessable

# add_charge makes lines of this type: https://apidocs.chargebee.com/docs/api/invoices, line_items.entity_type
ADHOC = "adhoc"
# The last second that a period may end at: the table's sort keys have ten digits for the time.
LATEST_SECOND = 9_999_999_998


class Period(NamedTuple):
    """A billing period, `start` and `end` included, in unix seconds."""

    start: int
    end: int


class Line(Protocol):
    """A line item of an event or of Chargebee's answer. `unit_amount`: minor units."""

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


def added(lines: Iterable[Line], first_lines: Iterable[Line]) -> list[Line]:
    """Returns the ad-hoc lines that are not among those of the event, so that they came after the event."""
    first = {_identity(line) for line in first_lines}
    return [line for line in lines if line.entity_type == ADHOC and _identity(line) not in first]


def period(lines: Iterable[Line], first_lines: Sequence[Line], occurred_at: int) -> Period:
    """Returns the billing period: from the earliest start to the latest end of the subscription's lines.

    The subscription's lines are all that are not ad-hoc, whatever they are called. An invoice without them has the
    period of `first_lines`, those of the event, which Chargebee wrote before any charge was added; an invoice without
    a line has everything until `occurred_at`. Raises Unprocessable for a period that no billable event can be in.
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
