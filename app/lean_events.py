"""Reads the event in a webhook's body with msgspec, which builds only the fields that the web process needs.

msgspec skips all other fields, while pydantic builds all fields and then ignores most of them. If msgspec rejects a
body, `app.events.parse_event` parses the body again, and either returns the event or raises the error. So this module
and `app.events` accept and reject the same bodies.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.json import Decoder

from app import events
from app.events import API_VERSION, EVENT_ID, EVENT_TYPE, INVOICE_ID, LONGEST_ID, PENDING_INVOICE_CREATED, WebhookEvent

# In a field that a model does not declare, pydantic accepts at most 201 levels of nesting. msgspec accepts more levels,
# until Python's stack is full. With at most MOST_BRACKETS opening brackets, a body is never nested too deeply.
MOST_BRACKETS = 200

# The patterns end with \Z, because msgspec uses Python's `re`, in which $ also matches before a final line feed.
EventId = Annotated[str, Meta(pattern=rf"^{EVENT_ID}\Z")]
EventType = Annotated[str, Meta(pattern=rf"^{EVENT_TYPE}\Z")]
ApiVersion = Annotated[str, Meta(pattern=rf"^{API_VERSION}\Z")]
CustomerId = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]
InvoiceId = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID, pattern=rf"^{INVOICE_ID}\Z")]
UnixSeconds = Annotated[int, Meta(ge=0)]


class LineItem(Struct, frozen=True, gc=False):
    date_from: UnixSeconds
    date_to: UnixSeconds
    unit_amount: int
    is_taxed: bool
    description: str
    entity_type: str


class Invoice(Struct, frozen=True, gc=False):
    id: InvoiceId
    customer_id: CustomerId
    recurring: bool
    status: str
    price_type: str
    currency_code: Annotated[str, Meta(min_length=3, max_length=3)]
    is_gifted: bool
    term_finalized: bool
    tax: int
    sub_total: int
    line_items: list[LineItem] = []
    line_items_next_offset: Any = None


class Content(Struct, frozen=True, gc=False):
    invoice: Invoice | None = None


class Event(Struct, frozen=True, gc=False):
    """The fields of `app.events.Event` that have a constraint, or that the web process needs."""

    id: EventId
    occurred_at: UnixSeconds
    source: str
    object: Literal["event"]
    api_version: ApiVersion
    content: Content
    event_type: EventType
    webhook_status: str
    webhooks: list[Any] | None = None

    @property
    def is_retry(self) -> bool:
        return self.webhooks is not None

    @property
    def customer_id(self) -> str | None:
        return self.content.invoice.customer_id if self.content.invoice is not None else None

    @property
    def is_truncated(self) -> bool:
        return self.content.invoice is not None and self.content.invoice.line_items_next_offset is not None


_decode = Decoder(Event).decode


def parse_event(body: bytes, wanted: frozenset[str]) -> WebhookEvent:
    """Returns the event in a request's body, or raises InvalidEvent, as `app.events.parse_event` does."""
    return _read(body) or events.parse_event(body, wanted)


def _read(body: bytes) -> Event | None:
    """Returns the event in `body`, or None if msgspec rejects the body, or if pydantic might reject it."""
    # Two calls of `replace` are faster than `count`, which looks at each byte in turn.
    if 2 * len(body) - len(body.replace(b"[", b"")) - len(body.replace(b"{", b"")) > MOST_BRACKETS:
        return None
    try:
        body.decode()  # raises an error if the body is not UTF-8; msgspec does not check this in skipped fields
        event = _decode(body)
    except ValueError:
        return None
    return event if event.content.invoice is not None or event.event_type != PENDING_INVOICE_CREATED else None
