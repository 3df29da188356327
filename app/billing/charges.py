"""Billable events, and the functions that make and recognise their charges on an invoice. Pure.

Chargebee keeps an idempotency key for 30 minutes and redelivers an event for 3 days 7 hours. After those minutes, only
the invoice itself shows what is on it, so each charge's description ends with the billable event's reference:
` [billable:<id>@<occurred_at>]`. Plans and add-ons may have any name, so a line counts as our charge only if it
is an ad-hoc line that came after the event, has the amount of a billable event that was reserved for this invoice
before, and ends with its reference.
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
# No bracket and no space, so that a reference has one reading.
_ID = re.compile(r"[^\s\[\]]{1,100}")
_IN_A_HEADER = re.compile(r"[A-Za-z0-9_.:@-]+")


@dataclass(frozen=True)
class Billable:
    """A billable event of a customer. `amount`: minor units; `occurred_at`, `reserved_at`, `billed_at`: unix seconds.

    `invoice_id`: the invoice that it is reserved for, or charged on; no other invoice may charge it. Id and time
    identify it together, as in the table's key: two events with one id and two times are two events.
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
        """Raises Unprocessable if Chargebee could never take the charge, or the charge could not be recognised."""
        if self.amount < 1:
            raise Unprocessable(f"The billable event {self.id} has an amount below 1", "invalid_amount")
        if not _ID.fullmatch(self.id):
            raise Unprocessable("A billable event's id is longer than 100 or has spaces or brackets", "invalid_id")


def billable_key(customer_id: str, billable: Billable) -> Key:
    return {"pk": {"S": f"customer#{customer_id}"}, "sk": {"S": f"{_from(billable.occurred_at)}#{billable.id}"}}


def between(period: Period) -> tuple[str, str]:
    """Returns the sort keys that BETWEEN takes. No item has the upper key, because real keys end in `#<id>`."""
    return _from(period.start), _from(period.end + 1)


def _from(seconds: int) -> str:
    return f"billable#{seconds:010d}"


def chargeable(customer_id: str, item: Item) -> Billable:
    """Returns the billable event of an item. Raises Unprocessable if it cannot be charged, or not be found again."""
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
        raise Unprocessable("A billable event in the table lacks an attribute", "invalid_billable") from None
    billable.require_chargeable()
    if item["sk"] != billable_key(customer_id, billable)["sk"] or billable.invoice_id == "":
        raise Unprocessable(
            "A billable event's id or time differs from its key, or its invoice_id is empty", "invalid_billable"
        )
    return billable


def is_of_another(item: Item, invoice_id: str) -> bool:
    """Returns whether another invoice has the billable event. `chargeable` rejects an `invoice_id` that is no text."""
    return item.get("invoice_id", {}).get("S") not in (None, "", invoice_id)


def idempotency_key(event_id: str, operation: str, billable: Billable | None = None) -> str:
    """Returns `<event id>-<operation>[@<occurred_at>-<billable id>]`, at most 100 characters that a header may hold.

    An id that does not fit is replaced by its SHA-256, shortened to 128 bits. Versions until 1.3.0 left out the time,
    and wrote no `reserved_at`: their reservations keep that key, because Chargebee may still execute one of the calls.
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
    """Returns the charge's description: the text, cut if it is too long, and the reference."""
    reference = f" [billable:{billable.reference}]"
    return _cut(billable.description, DESCRIPTION_LENGTH - _length(reference)) + reference


def charged(reserved: Iterable[Billable], lines: Iterable[Line]) -> list[Billable]:
    """Returns the events of `reserved` that are on the invoice; `lines`: the ad-hoc lines that came after the event.

    A line is the charge of an event if it ends with the event's reference and has its amount. Until 1.3.0 a reference
    was the id alone, ` [<id>]`. Each line accounts for one event.
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
    """Returns the length in UTF-16 units, as Java counts; it is never less than the number of characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str, length: int) -> str:
    if _length(text) <= length:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * length].decode("utf-16-le", "ignore")
