"""Defines billable events, their keys in the table, and the idempotency keys of their charges, without I/O."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from app.billing.items import Item, Key, text
from app.billing.line_items import Period
from app.errors import Unprocessable

# The maximum length of an idempotency key: https://apidocs.chargebee.com/docs/api/idempotency
KEY_LENGTH = 100
# The largest amount that can be charged, in minor units. Chargebee documents no maximum, but a larger amount must be a
# mistake.
LARGEST_AMOUNT = 10**12
# Maximum seconds by which a worker's clock may be ahead of Chargebee's clock.
CLOCKS = 3600
# The id of a billable event has no brackets or spaces, so that the reference in a charge's description is unambiguous.
_ID = re.compile(r"[^\s\[\]]{1,100}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_SUBSCRIPTION = re.compile(r".{1,50}", re.DOTALL)
_IN_A_HEADER = re.compile(r"[A-Za-z0-9_.:@-]+")


@dataclass(frozen=True)
class Billable:
    """A billable event: something for which a customer has to pay. All times are in unix seconds.

    `amount` is in minor units (cents). `customer_id`, `id` and `occurred_at` together identify a billable event, as in
    the table's key. Two different billable events may have the same `id`. `currency` and `subscription_id` are None if
    the event's writer has not named them.

    `invoice_id`: the invoice for which the event is reserved; no other invoice may charge the event. `closed_as`: the
    id that this invoice got when it was closed, or None if the event is not billed. `payer`: the customer who pays the
    invoice, or None if `customer_id` pays the invoice. In an account hierarchy, another customer may pay.
    """

    id: str
    amount: int
    description: str
    occurred_at: int
    invoice_id: str | None = None
    reserved_at: int | None = None
    billed_at: int | None = None
    customer_id: str = ""
    currency: str | None = None
    subscription_id: str | None = None
    closed_as: str | None = None
    payer: str | None = None

    @property
    def reference(self) -> str:
        return f"{self.id}@{self.occurred_at}"

    @property
    def suffix(self) -> str:
        """The end of the sort keys of the usage item and of the charge item."""
        return f"{self.occurred_at:010d}#{self.id}"

    def require_chargeable(self) -> None:
        """Raises Unprocessable if `amount` is negative or above LARGEST_AMOUNT, or if `id` does not match _ID.

        An amount of 0 is fine, because the worker bills it without a charge.
        """
        if not 0 <= self.amount <= LARGEST_AMOUNT:
            raise Unprocessable("A billable event's amount is negative or too large", "invalid_amount")
        if not _ID.fullmatch(self.id):
            detail = "A billable event's id is empty, has over 100 characters, or has spaces or brackets"
            raise Unprocessable(detail, "invalid_id")


def billable_key(customer_id: str, billable: Billable) -> Key:
    return {"pk": {"S": f"customer#{customer_id}"}, "sk": {"S": f"{_from(billable.occurred_at)}#{billable.id}"}}


def changed_after(reserved: Iterable[Billable]) -> int:
    """Returns a unix time before all reservations. Each invoice that charges this usage has changed after that time."""
    return max(0, min((billable.reserved_at or 0 for billable in reserved), default=0) - CLOCKS)


def between(period: Period) -> tuple[str, str]:
    """Returns the lower and the upper sort key of a BETWEEN query for the billable events of the period.

    BETWEEN includes the upper key, but no item has that key, because the key of an item ends in `#<id>`.
    """
    return _from(period.start), _from(period.end + 1)


def _from(seconds: int) -> str:
    return f"billable#{seconds:010d}"


def chargeable(customer_id: str, item: Item) -> Billable:
    """Converts a usage item of the table to a billable event.

    Raises Unprocessable if the billable event cannot be charged, or if its id or time differs from the item's key.
    """
    try:
        billable = Billable(
            id=item["id"]["S"],
            amount=_whole(item["amount"]["N"]),
            description=item["description"]["S"],
            occurred_at=int(item["occurred_at"]["N"]),
            customer_id=customer_id,
            currency=_name(item, "currency", _CURRENCY),
            subscription_id=_name(item, "subscription_id", _SUBSCRIPTION),
        )
    except (KeyError, ValueError, InvalidOperation):
        raise Unprocessable("A billable event lacks an attribute, or has an invalid one", "invalid_billable") from None
    billable.require_chargeable()
    if item["sk"] != billable_key(customer_id, billable)["sk"]:
        raise Unprocessable("A billable event's id or time differs from its key", "invalid_billable")
    return billable


def chargeable_or_none(customer_id: str, item: Item) -> Billable | None:
    """Converts a usage item to a billable event, or returns None if the billable event cannot be charged."""
    try:
        return chargeable(customer_id, item)
    except Unprocessable:
        return None


def _whole(number: str) -> int:
    """Converts `number` to an int. Raises Unprocessable if it is a fraction, InvalidOperation if it is no number."""
    found = Decimal(number)
    if found != found.to_integral_value():
        raise Unprocessable("A billable event's amount is not a whole number of minor units", "invalid_amount")
    return int(found)


def _name(item: Item, name: str, valid: re.Pattern[str]) -> str | None:
    """Returns a string attribute, or None if it is missing.

    Raises KeyError if the attribute is no string, and ValueError if `valid` does not match the whole string.
    """
    value = text(item, name)
    if value is not None and not valid.fullmatch(value):
        raise ValueError(name)
    return value


def idempotency_key(event_id: str, operation: str, billable: Billable | None = None) -> str:
    """Returns the idempotency key of a call: `<event id>-<operation>[@<occurred_at>-<billable id>]`.

    The key has at most 100 characters, and only characters that are allowed in a header. If the billable event's id is
    too long or has other characters, the key contains the first 128 bits of the id's SHA-256 hash instead.

    If the billable event has a `payer`, the key always contains a hash of `customer_id` and `id` instead of the id: two
    customers may have billable events with the same id and time on one invoice.
    """
    start = f"{event_id}-{operation}"
    if billable is None:
        return start
    start = f"{start}@{billable.occurred_at}"
    name = billable.id if billable.payer is None else f"{billable.customer_id}\0{billable.id}"
    key = f"{start}-{name}"
    if len(key) <= KEY_LENGTH and _IN_A_HEADER.fullmatch(key):
        return key
    return f"{start}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def without(billables: Iterable[Billable], others: Iterable[Billable]) -> list[Billable]:
    """Returns the billable events that are not among `others`."""
    known = {(other.customer_id, other.reference) for other in others}
    return [billable for billable in billables if (billable.customer_id, billable.reference) not in known]
