"""Writes the reference of a billable event into its charge, and finds the charges with such references on an invoice.

Chargebee redelivers an event for 3 days 7 hours, but keeps an idempotency key for only 30 minutes. After 30 minutes,
only the invoice shows which billable events were charged. So the description of each charge ends with the reference of
the billable event: ` [billable:<id>@<occurred_at>]`.

A plan or an add-on may have any name, even one that ends like a reference. So a line counts as a charge of this service
only if all of these conditions are met:

- The line is an ad-hoc line that Chargebee's event did not contain.
- The line has the amount of a billable event that was reserved for this invoice before.
- The line's description ends with the reference of that billable event.
"""

from collections.abc import Iterable

from app.billing.charges import Billable
from app.billing.line_items import ADHOC, Line

# The maximum length of a charge's description:
# https://apidocs.chargebee.com/docs/api/invoices, "Add one-time charge to a pending invoice"
DESCRIPTION_LENGTH = 250


def described(billable: Billable) -> str:
    """Returns the charge's description: the billable event's description, shortened if necessary, and its reference."""
    reference = f" [billable:{billable.reference}]"
    return cut(billable.description, DESCRIPTION_LENGTH - _length(reference)) + reference


def charged(reserved: Iterable[Billable], lines: Iterable[Line]) -> list[Billable]:
    """Returns the billable events of `reserved` that have a charge on the invoice.

    `lines`: the invoice's ad-hoc lines that Chargebee's event did not contain. A line is the charge of a billable event
    if their amounts are equal and the line's description ends with the event's reference. Each line matches at most
    one billable event.
    """
    ends = [(line.description.rpartition(" ")[2], line.unit_amount) for line in lines]
    found: list[Billable] = []
    for billable in reserved:
        if (end := (f"[billable:{billable.reference}]", billable.amount)) in ends:
            ends.remove(end)
            found.append(billable)
    return found


def refers_to(lines: Iterable[Line], billables: Iterable[Billable]) -> bool:
    """Returns True if an ad-hoc line's description ends with the reference of one of the billable events."""
    ends = {f"[billable:{billable.reference}]" for billable in billables}
    return any(line.entity_type == ADHOC and line.description.rpartition(" ")[2] in ends for line in lines)


def _length(text: str) -> int:
    """Returns the number of UTF-16 code units in `text`, as Java counts characters. This is at least `len(text)`."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, length: int) -> str:
    """Returns at most the first `length` UTF-16 code units of `text`."""
    if _length(text) <= length:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * length].decode("utf-16-le", "ignore")
