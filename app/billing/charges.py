"""What is charged, when, and how it is found again: pure.

A charge's description ends with ` [<billable id>]`. Chargebee keeps an idempotency key for 30 minutes and redelivers
an event for 3 days 7 hours: after those minutes, only the invoice itself tells what is on it.
"""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from app.billing.lines import Line
from app.errors import Unprocessable

# https://apidocs.chargebee.com/docs/api/invoices, "Add one-time charge to a pending invoice"
DESCRIPTION_LENGTH = 250
# https://apidocs.chargebee.com/docs/api/idempotency
KEY_LENGTH = 100
# No bracket and no space, so that a reference has one reading.
_ID = re.compile(r"[^\s\[\]]{1,100}")
_REFERENCE = re.compile(r" \[([^\s\[\]]{1,100})\]$")
_IN_A_HEADER = re.compile(r"[A-Za-z0-9_.:-]+")


@dataclass(frozen=True)
class Billable:
    """A billable event of a customer. `amount`: minor units; `occurred_at`: unix seconds.

    `invoice_id`: the invoice that it is reserved for, or charged on; no other invoice may charge it.
    """

    id: str
    amount: int
    description: str
    occurred_at: int
    invoice_id: str | None = None
    billed_at: int | None = None

    def require_chargeable(self) -> None:
        """Raises Unprocessable where Chargebee could never take it, or it could not be found again."""
        if self.amount < 1:
            raise Unprocessable(f"The billable event {self.id} has an amount below 1", "invalid_amount")
        if not _ID.fullmatch(self.id):
            raise Unprocessable("A billable event's id is longer than 100 or has spaces or brackets", "invalid_id")


def idempotency_key(event_id: str, operation: str, billable_id: str = "") -> str:
    """`<event id>-<operation>-<billable id>`, at most 100 characters that a header may hold.

    An id that does not fit is replaced by its SHA-256, shortened to 128 bits.
    """
    if not billable_id:
        return f"{event_id}-{operation}"
    key = f"{event_id}-{operation}-{billable_id}"
    if len(key) <= KEY_LENGTH and _IN_A_HEADER.fullmatch(key):
        return key
    return f"{event_id}-{operation}-{hashlib.sha256(billable_id.encode()).hexdigest()[:32]}"


def described(billable: Billable) -> str:
    """The charge's description: the text, cut where it is too long, and the reference."""
    reference = f" [{billable.id}]"
    text = _cut(billable.description, DESCRIPTION_LENGTH - _length(reference))
    return text + reference


def reference_in(description: str) -> str | None:
    """The billable id at the end of a description."""
    found = _REFERENCE.search(description)
    return found[1] if found else None


def charged(billables: Iterable[Billable], lines: Iterable[Line]) -> list[Billable]:
    """Those of `billables` that are on the invoice already."""
    there = {reference_in(line.description) for line in lines}
    return [billable for billable in billables if billable.id in there]


def without(billables: Iterable[Billable], others: Collection[Billable]) -> list[Billable]:
    """Those of `billables` that are not among `others`, by their ids."""
    ids = {other.id for other in others}
    return [billable for billable in billables if billable.id not in ids]


def _length(text: str) -> int:
    """In UTF-16 units, as Java counts; never less than in characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str, length: int) -> str:
    if _length(text) <= length:
        return text
    kept = text.encode("utf-16-le", "surrogatepass")[: 2 * length]
    return kept.decode("utf-16-le", "ignore")
