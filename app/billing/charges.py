"""Defines billable events, and makes and recognises their charges on an invoice, without I/O.

Chargebee redelivers an event for 3 days 7 hours, but keeps an idempotency key for only 30 minutes. After 30 minutes,
only the invoice shows which billable events were charged. So the description of each charge ends with the reference of
the billable event: ` [billable:<id>@<occurred_at>]`.

A plan or an add-on may have any name, even one that ends like a reference. So a line counts as a charge of this service
only if all of these conditions are met:

- The line is an ad-hoc line that Chargebee's event did not contain.
- The line has the amount of a billable event that was reserved for this invoice before.
- The line's description ends with the reference of that billable event.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.billing.items import Item, Key, number, text
from app.billing.line_items import Line, Period
from app.errors import Unprocessable

# https://apidocs.chargebee.com/docs/api/invoices, "Add one-time charge to a pending invoice"
DESCRIPTION_LENGTH = 250
# https://apidocs.chargebee.com/docs/api/idempotency
KEY_LENGTH = 100
# An id has no brackets or spaces, so that a reference can be read in only one way.
_ID = re.compile(r"[^\s\[\]]{1,100}")
_IN_A_HEADER = re.compile(r"[A-Za-z0-9_.:@-]+")


@dataclass(frozen=True)
class Billable:
    """A billable event of a customer. `amount`: minor units; `occurred_at`, `reserved_at`, `billed_at`: unix seconds.

    `invoice_id`: the invoice that the event is reserved for or charged on; no other invoice may charge the event. `id`
    and `occurred_at` together identify an event, as in the table's key. Two different events may have the same `id`.
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
        """Raises Unprocessable if Chargebee would never accept the charge, or if the charge could not be recognised."""
        if self.amount < 1:
            raise Unprocessable(f"The billable event {self.id} has an amount below 1", "invalid_amount")
        if not _ID.fullmatch(self.id):
            raise Unprocessable("A billable event's id has over 100 characters, or spaces, or brackets", "invalid_id")


def billable_key(customer_id: str, billable: Billable) -> Key:
    return {"pk": {"S": f"customer#{customer_id}"}, "sk": {"S": f"{_from(billable.occurred_at)}#{billable.id}"}}


def between(period: Period) -> tuple[str, str]:
    """Returns the lower and the upper sort key for BETWEEN.

    BETWEEN includes the upper key, but no item has that key, because real keys end in `#<id>`.
    """
    return _from(period.start), _from(period.end + 1)


def _from(seconds: int) -> str:
    return f"billable#{seconds:010d}"


def chargeable(customer_id: str, item: Item) -> Billable:
    """Converts an item of the table to a billable event.

    Raises Unprocessable if the event cannot be charged, or if the item is inconsistent.
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
        raise Unprocessable("A billable event lacks an attribute, or has a wrong one", "invalid_billable") from None
    billable.require_chargeable()
    if item["sk"] != billable_key(customer_id, billable)["sk"] or billable.invoice_id == "":
        raise Unprocessable(
            "A billable event's id or time differs from its key, or its invoice_id is empty", "invalid_billable"
        )
    return billable


def is_of_another(item: Item, invoice_id: str) -> bool:
    """Returns whether the billable event is reserved for another invoice, or charged on another invoice.

    Returns False if `invoice_id` is not a string, because `chargeable` then rejects the item.
    """
    return item.get("invoice_id", {}).get("S") not in (None, "", invoice_id)


def idempotency_key(event_id: str, operation: str, billable: Billable | None = None) -> str:
    """Returns the idempotency key of a call: `<event id>-<operation>[@<occurred_at>-<billable id>]`.

    The key has at most 100 characters, all of which are allowed in a header. A billable id that does not fit is
    replaced by its SHA-256 hash, shortened to 128 bits.

    Versions until 1.3.0 used keys without the time and reservations without `reserved_at`. Such a reservation keeps its
    key without the time, because Chargebee may still execute a call with that key.
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
    """Returns the charge's description: the event's description, shortened if it is too long, and the reference."""
    reference = f" [billable:{billable.reference}]"
    return _cut(billable.description, DESCRIPTION_LENGTH - _length(reference)) + reference


def charged(reserved: Iterable[Billable], lines: Iterable[Line]) -> list[Billable]:
    """Returns the events of `reserved` whose charges are on the invoice.

    `lines`: the invoice's ad-hoc lines that Chargebee's event did not contain. A line is the charge of a billable event
    if the line ends with the event's reference and has the event's amount. Until 1.3.0, a reference had only the id,
    ` [<id>]`. Each line matches at most one event.
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


def without(billables: Iterable[Billable], others: Iterable[Billable]) -> list[Billable]:
    """Returns the events of `billables` that are not among `others`."""
    references = {other.reference for other in others}
    return [billable for billable in billables if billable.reference not in references]


def _length(text: str) -> int:
    """Returns the length in UTF-16 code units, as Java counts; never less than the number of characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str, length: int) -> str:
    if _length(text) <= length:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * length].decode("utf-16-le", "ignore")
