"""Defines Pydantic models of a Chargebee event, with the fields that Chargebee always sends or the service needs.

The documentation of Chargebee's API v2 says which fields are required: https://apidocs.chargebee.com/docs/api/events
and https://apidocs.chargebee.com/docs/api/invoices. Chargebee adds values to enumerations without notice, so
enumerations are plain strings in the models. The models allow all other fields, and ignore them.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from app.unreadable import readable
from app.validation_errors import is_no_json, refuse, refuse_constants

PENDING_INVOICE_CREATED = "pending_invoice_created"

EVENT_ID = r"[A-Za-z0-9_-]{1,40}"
# EventType and ApiVersion become SQS message attributes, which may not be empty or contain control characters.
EVENT_TYPE, API_VERSION = r"[A-Za-z0-9_.-]{1,100}", r"[A-Za-z0-9_.-]{1,20}"
# An invoice's id becomes a segment of a URL's path. Control characters, or an id of only dots, would change the path.
INVOICE_ID = r"[^\x00-\x1f\x7f]*[^.\x00-\x1f\x7f][^\x00-\x1f\x7f]*"
LONGEST_ID = 50  # Chargebee documents ids of customers, subscriptions and invoices as "string, max chars=50"
EventId = Annotated[str, Field(pattern=f"^{EVENT_ID}$")]
EventType = Annotated[str, Field(pattern=f"^{EVENT_TYPE}$")]
ApiVersion = Annotated[str, Field(pattern=f"^{API_VERSION}$")]
CustomerId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
InvoiceId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, pattern=f"^{INVOICE_ID}$")]
# DynamoDB's numbers have at most 38 digits.
MOST_VERSION = 10**38 - 1
MinorUnits = Annotated[int, Field(description="An amount in the currency's minor units (cents).")]
UnixSeconds = Annotated[int, Field(ge=0)]


class _Open(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


def valid_id(value: object) -> str | None:
    """Returns `value` if it can be the id of a customer or a subscription, otherwise None."""
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_ID else None


class LineItem(_Open):
    """A line item of an invoice, with the fields that Chargebee always sends.

    `subscription_id` and `customer_id` may have any value, because the service accepts an event even if these two ids
    are invalid. The billing work checks both ids with `valid_id`. In an account hierarchy, the line item's customer may
    differ from the invoice's customer.
    """

    date_from: UnixSeconds
    date_to: UnixSeconds
    unit_amount: MinorUnits
    is_taxed: bool
    description: str
    entity_type: str
    subscription_id: Any = None
    customer_id: Any = None


class Invoice(_Open):
    """An invoice, with the fields that Chargebee always sends, and its line items, if any."""

    id: InvoiceId
    customer_id: CustomerId
    recurring: bool
    status: str
    price_type: str
    currency_code: Annotated[str, Field(min_length=3, max_length=3)]
    tax: MinorUnits
    sub_total: MinorUnits
    term_finalized: bool
    is_gifted: bool
    line_items: Annotated[list[LineItem], FailFast()] = []
    # As in LineItem, `subscription_id` is not validated. An invoice of several subscriptions has no `subscription_id`.
    subscription_id: Any = None
    # `line_items_next_offset` is present if Chargebee has left out some line items.
    line_items_next_offset: Any = None
    # `resource_version` is not validated, because the service accepts an event without a valid version.
    resource_version: Any = None

    @property
    def version(self) -> int | None:
        """Returns the version of the invoice, or None if Chargebee has sent no valid version.

        A larger version is newer, so versions show the order of an invoice's events.
        """
        version = self.resource_version
        return version if type(version) is int and 0 <= version <= MOST_VERSION else None

    @property
    def is_truncated(self) -> bool:
        """Returns whether the invoice has more line items than the event contains."""
        return self.line_items_next_offset is not None


class Content(_Open):
    """The content of an event. Resources other than the invoice are not validated."""

    invoice: Invoice | None = None


class Envelope(_Open):
    """The fields of every event. `webhooks` is absent when Chargebee first sends the event, and present on retries."""

    id: EventId
    occurred_at: UnixSeconds
    source: str
    object: Literal["event"]
    api_version: ApiVersion
    event_type: EventType
    webhook_status: str
    webhooks: list[Any] | None = None

    @property
    def is_retry(self) -> bool:
        return self.webhooks is not None

    @property
    def customer_id(self) -> str | None:
        """The id of the invoice's customer, or None if the event has no invoice. `Event` overrides this property."""
        return None

    @property
    def is_truncated(self) -> bool:
        """Whether the event's invoice has more line items than the event contains. `Event` overrides this property."""
        return False


class UnwantedEvent(Envelope):
    """An event with invalid content and a type that is not in APP_EVENT_TYPES. `content` is any JSON object."""

    content: dict[str, Any]


class Event(Envelope):
    """An event with valid content, of any type. The service ignores an event whose type is not in APP_EVENT_TYPES."""

    content: Content

    @model_validator(mode="after")
    def _has_its_invoice(self) -> Self:
        if self.event_type == PENDING_INVOICE_CREATED and self.content.invoice is None:
            raise PydanticCustomError("missing_invoice", "A pending_invoice_created event needs content.invoice")
        return self

    @property
    def customer_id(self) -> str | None:
        return self.content.invoice.customer_id if self.content.invoice is not None else None

    @property
    def is_truncated(self) -> bool:
        return self.content.invoice is not None and self.content.invoice.is_truncated


class WebhookEvent(Protocol):
    """The interface of an event in the web process: Event, UnwantedEvent and `app.lean_events.Event` implement it."""

    @property
    def id(self) -> str: ...
    @property
    def event_type(self) -> str: ...
    @property
    def api_version(self) -> str: ...
    @property
    def occurred_at(self) -> int: ...
    @property
    def is_retry(self) -> bool: ...
    @property
    def customer_id(self) -> str | None: ...
    @property
    def is_truncated(self) -> bool: ...


# The type of `parse_event`: takes a body and the wanted event types, and returns the event.
ParseEvent = Callable[[bytes, frozenset[str]], WebhookEvent]


def parse_event(body: bytes, wanted: frozenset[str]) -> Event | UnwantedEvent:
    """Returns the event in a request's body (JSON in UTF-8). Raises InvalidEvent if the body is not a valid event.

    If the content is invalid and the event's type is not in `wanted`, returns an UnwantedEvent.
    """
    event: Event | UnwantedEvent
    try:
        event = Event.model_validate_json(body)
    except ValidationError as error:
        if is_no_json(error) and (repaired := readable(body)) != body:
            return parse_event(repaired, wanted)
        try:
            event = UnwantedEvent.model_validate_json(body)
        except ValidationError:
            refuse(error)
        if event.event_type in wanted:
            refuse(error)
    # jiter, pydantic's parser, accepts NaN and ±Infinity; JSON (RFC 8259) has no such numbers.
    if b"NaN" in body or b"Infinity" in body:
        refuse_constants(body)
    return event
