"""Defines billable events, makes the charges for them, and recognises these charges on an invoice, without I/O.

Chargebee redelivers an event for 3 days 7 hours, but keeps an idempotency key for only 30 minutes. After 30 minutes,
only the invoice shows which billable events were charged. So the description of each charge ends with the reference of
the billable event: ` [billable:<id>@<occurred_at>]`.

A plan or an add-on may have any name, even one that ends like a reference. So a line counts as a charge of this service
only if all of these conditions are met:

- The line is an ad-hoc line that Chargebee's event did not contain.
- The line has the amount of a billable event that was reserved for this invoice before. (In release v01, it is enough
  that the billable event is not reserved for another invoice.)
- The line's description ends with the reference of that billable event.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.billing.items import Item, Key, number, text
from app.billing.line_items import ADHOC, Line, Period
from app.errors import Unprocessable

# Chargebee's maximum: https://apidocs.chargebee.com/docs/api/invoices, "Add one-time charge to a pending invoice"
DESCRIPTION_LENGTH = 250
# Chargebee's maximum: https://apidocs.chargebee.com/docs/api/idempotency
KEY_LENGTH = 100
# The id of a billable event has no brackets or spaces, so that a reference can be read in only one way.
_ID = re.compile(r"[^\s\[\]]{1,100}")
_IN_A_HEADER = re.compile(r"[A-Za-z0-9_.:@-]+")


@dataclass(frozen=True)
class Billable:
    """A billable event: something for which a customer has to pay. All times are in unix seconds.

    `amount` is in minor units (cents). `invoice_id`: the invoice for which the event is reserved; no other invoice may
    charge the event. `id` and `occurred_at` together identify a billable event, as in the table's key. Two different
    billable events may have the same `id`.
    """

    id: str
    amount: int
    description: str
    occurred_at: int
    invoice_id: str | None = None
    reserved_at: int | None = None
    billed_at: int | None = None

    @property
    def reference(self) -> str:
        return f"{self.id}@{self.occurred_at}"

    def require_chargeable(self) -> None:
        """Raises Unprocessable if Chargebee would never accept the charge, or if `charged` could not recognise it."""
        if self.amount < 1:
            raise Unprocessable(f"The billable event {self.id} has an amount below 1", "invalid_amount")
        if not _ID.fullmatch(self.id):
            detail = "A billable event's id is empty, has over 100 characters, or has spaces or brackets"
            raise Unprocessable(detail, "invalid_id")


def billable_key(customer_id: str, billable: Billable) -> Key:
    return {"pk": {"S": f"customer#{customer_id}"}, "sk": {"S": f"{_from(billable.occurred_at)}#{billable.id}"}}


def between(period: Period) -> tuple[str, str]:
    """Returns the lower and the upper sort key for a query of the period's billable events with BETWEEN.

    BETWEEN includes the upper key, but no item has that key, because the key of an item ends in `#<id>`.
    """
    return _from(period.start), _from(period.end + 1)


def _from(seconds: int) -> str:
    return f"billable#{seconds:010d}"


def chargeable(customer_id: str, item: Item) -> Billable:
    """Converts an item of the table to a billable event.

    Raises Unprocessable if the billable event cannot be charged, or if the item contradicts its key.
    """
    try:
        billable = Billable(
            id=item["id"]["S"],
            amount=int(item["amount"]["N"]),
            description=item["description"]["S"],
            occurred_at=int(item["occurred_at"]["N"]),
            invoice_id=text(item, "invoice_id"),
            reserved_at=number(item, "reserved_at"),
            billed_at=number(item, "billed_at"),
        )
    except (KeyError, ValueError):
        raise Unprocessable("A billable event lacks an attribute, or has an invalid one", "invalid_billable") from None
    billable.require_chargeable()
    if item["sk"] != billable_key(customer_id, billable)["sk"] or billable.invoice_id == "":
        raise Unprocessable(
            "A billable event's id or time differs from its key, or its invoice_id is empty", "invalid_billable"
        )
    return billable


def is_of_another(item: Item, invoice_id: str) -> bool:
    """Returns True if the billable event `item` is reserved for another invoice than `invoice_id`.

    Returns False if the item's own `invoice_id` is empty or not a string, because `chargeable` rejects such an item.
    """
    return item.get("invoice_id", {}).get("S") not in (None, "", invoice_id)


def idempotency_key(event_id: str, operation: str, billable: Billable | None = None) -> str:
    """Returns the idempotency key of a call: `<event id>-<operation>[@<occurred_at>-<billable id>]`.

    The key has at most 100 characters, all of which are allowed in a header. If the billable event's id is too long for
    the key, or has other characters, the key contains the id's SHA-256 hash instead, shortened to 128 bits.

    Up to version 1.3.0, keys did not contain `@<occurred_at>`, and reservations had no `reserved_at`. A billable event
    with such a reservation keeps its old key, because Chargebee may still execute a call with that key.
    """
    start = f"{event_id}-{operation}"
    if billable is None:
        return start
    if billable.reserved_at is not None:
        start = f"{start}@{billable.occurred_at}"
    key = f"{start}-{billable.id}"
    if len(key) <= KEY_LENGTH and _IN_A_HEADER.fullmatch(key):
        return key
    return f"{start}-{hashlib.sha256(billable.id.encode()).hexdigest()[:32]}"


def described(billable: Billable) -> str:
    """Returns the charge's description: the billable event's description, shortened if necessary, and its reference."""
    reference = f" [billable:{billable.reference}]"
    return _cut(billable.description, DESCRIPTION_LENGTH - _length(reference)) + reference


def charged(reserved: Iterable[Billable], lines: Iterable[Line]) -> list[Billable]:
    """Returns the billable events of `reserved` (in v01: not reserved elsewhere) that have a charge on the invoice.

    `lines`: the invoice's ad-hoc lines that Chargebee's event did not contain. A line is the charge of a billable event
    if their amounts are equal and the line's description ends with the event's reference. Up to version 1.3.0, the
    reference was ` [<id>]`, without the time. Each line matches at most one billable event.
    """
    ends = [(line.description.rpartition(" ")[2], line.unit_amount) for line in lines]
    found: list[Billable] = []
    missing = list(reserved)
    for form in ("[billable:{0.reference}]", "[{0.id}]"):
        for billable in tuple(missing):
            if (end := (form.format(billable), billable.amount)) in ends:
                ends.remove(end)
                missing.remove(billable)
                found.append(billable)
    return found


def refers_to(lines: Iterable[Line], billables: Iterable[Billable]) -> bool:
    """Returns True if an ad-hoc line ends with the reference of one of the billable events."""
    ends = {f"[billable:{billable.reference}]" for billable in billables}
    return any(line.entity_type == ADHOC and line.description.rpartition(" ")[2] in ends for line in lines)


def without(billables: Iterable[Billable], others: Iterable[Billable]) -> list[Billable]:
    """Returns the billable events that are not among `others`."""
    references = {other.reference for other in others}
    return [billable for billable in billables if billable.reference not in references]


def _length(text: str) -> int:
    """Returns the number of UTF-16 code units in `text`, as Java counts: never less than the number of characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str, length: int) -> str:
    if _length(text) <= length:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * length].decode("utf-16-le", "ignore")
