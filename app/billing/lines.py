"""The line items of an invoice: which kind they are of, and the billing period that they give. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

# The kind of line that add_charge makes: https://apidocs.chargebee.com/docs/api/invoices, line_items.entity_type
ADHOC = "adhoc"


class Period(NamedTuple):
    """From `start` to `end`, both included, in unix seconds."""

    start: int
    end: int


class Line(Protocol):
    """A line item, of an event or of Chargebee's answer."""

    @property
    def date_from(self) -> int: ...
    @property
    def date_to(self) -> int: ...
    @property
    def description(self) -> str: ...
    @property
    def entity_type(self) -> str: ...


def period(lines: Iterable[Line], first_lines: Sequence[Line], occurred_at: int) -> Period:
    """Returns the billing period: from the earliest start to the latest end of the subscription's lines.

    The subscription's lines are all that are not ad-hoc, whatever they are called. An invoice without them has the
    period of `first_lines`, those of the event, which Chargebee wrote before any charge was added; an invoice without
    a line has everything until `occurred_at`.
    """
    counted = [line for line in lines if line.entity_type != ADHOC] or first_lines
    found = Period(0, occurred_at)
    if counted:
        found = Period(min(line.date_from for line in counted), max(line.date_to for line in counted))
    return found
