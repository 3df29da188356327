"""Does the billing work of release v01 with clients whose calls block the thread: boto3 and Chargebee's own SDK.

If a step fails, it raises BillingUnavailable. Then Chargebee sends the webhook again, and the work restarts with the
first step. Every step may be repeated, because each charge has an idempotency key and a reference. Chargebee keeps the
key for 30 minutes. The reference is in the description of the charge's line item, and stays on the invoice.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import boto3
from botocore.config import Config

from app.billing import charges
from app.billing.access import BillingAccess
from app.billing.chargebee_sdk import IDEMPOTENCY_KEY, failing, open_site
from app.billing.charges import Billable
from app.billing.items import Update
from app.billing.line_items import Line, added, period
from app.errors import BillingUnavailable
from app.events import Event, Invoice

if TYPE_CHECKING:
    import chargebee
    from types_boto3_dynamodb import DynamoDBClient

CONFLICT = "invalid_state_for_request"  # Chargebee's error code; most likely, the invoice is closed already
PENDING = "pending"
FREE_OR_OWN = "attribute_exists(#pk) AND (attribute_not_exists(#invoice_id) OR #invoice_id = :invoice)"
ATTEMPTS = 2
TABLE_SECONDS = 10.0


class InvoiceState(NamedTuple):
    """An invoice's state at Chargebee: `pending` is True if its status is pending, and `lines` has all line items."""

    pending: bool
    lines: list[Line]


class BlockingBilling:
    """The steps of the billing work for an event that contains an invoice. Every step may raise BillingUnavailable.

    Up to version 1.3.0, release v01 charged billable events without reserving them before. So the invoice may contain
    charges of billable events without a reservation.
    """

    def __init__(self, dynamodb: "DynamoDBClient", table: str, site: "chargebee.Chargebee") -> None:
        self._dynamodb = dynamodb
        self._table = table
        self._invoices: Any = site.Invoice

    def read(self, event: Event) -> InvoiceState:
        """Retrieves the state of the invoice from Chargebee.

        The state in the event is not enough: an earlier attempt may have changed the invoice since then, and the event
        may lack some line items of a long invoice.
        """
        lines: list[Line] = []
        page: dict[str, Any] = {}
        while True:
            with failing("Chargebee"):
                invoice = self._invoices.retrieve(_invoice(event).id, page).invoice
            lines += invoice.line_items or []
            offset = getattr(invoice, "line_items_next_offset", None)
            if offset is None:
                return InvoiceState(invoice.status == PENDING, lines)
            page = {"line_items_offset": offset}

    def unbilled(self, event: Event, state: InvoiceState) -> list[Billable]:
        """Returns the billable events of the invoice's period, without those that are reserved for another invoice.

        If the invoice is closed, returns only the billable events that have a charge on the invoice.
        Raises InvalidEvent if the invoice can never be billed.
        """
        invoice = _invoice(event)
        with failing("DynamoDB"):
            first, last = charges.between(period(state.lines, invoice.line_items, event.occurred_at))
            customer = f"customer#{invoice.customer_id}"
            values: Any = {":pk": {"S": customer}, ":first": {"S": first}, ":last": {"S": last}}
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues=values,
            )
            free = [item for page in pages for item in page["Items"] if not charges.is_of_another(item, invoice.id)]
            free_or_own = [charges.chargeable(invoice.customer_id, item) for item in free]
        return free_or_own if state.pending else charges.charged(free_or_own, added(state.lines, invoice.line_items))

    def add(self, event: Event, state: InvoiceState, billables: Sequence[Billable]) -> None:
        """Reserves and charges each billable event that has no charge on the invoice, with one API call per charge."""
        on_invoice = charges.charged(billables, added(state.lines, _invoice(event).line_items))
        for billable in charges.without(billables, on_invoice):
            reserved = self._reserved(event, billable)
            charge = {"amount": billable.amount, "description": charges.described(billable)}
            with failing("Chargebee"):
                self._invoices.add_charge(_invoice(event).id, charge, _key(event, "add_charge", reserved))

    def _reserved(self, event: Event, billable: Billable) -> Billable:
        """Reserves the billable event, unless an earlier attempt has done so. Returns the reserved billable event."""
        if billable.invoice_id is not None:
            return billable
        now = int(time.time())
        self._update(event, billable, "SET #invoice_id = :invoice, #reserved_at = :now", now)
        return replace(billable, reserved_at=now)

    def close(self, event: Event, state: InvoiceState) -> None:
        """Closes the invoice, unless it is already closed."""
        if state.pending:
            try:
                with failing("Chargebee"):
                    self._invoices.close(_invoice(event).id, {}, _key(event, "close"))
            except BillingUnavailable as error:
                if CONFLICT not in error.cause or self.read(event).pending:
                    raise

    def mark(self, event: Event, billables: Sequence[Billable]) -> None:
        """Marks each billable event in the table as billed on the invoice, with one call for each."""
        for billable in billables:
            self._update(event, billable, "SET #invoice_id = :invoice, #billed_at = :now", int(time.time()))

    def _update(self, event: Event, billable: Billable, change: str, now: int) -> None:
        key = charges.billable_key(_invoice(event).customer_id, billable)
        update = Update(key, change, FREE_OR_OWN, invoice=_invoice(event).id, now=now)
        with failing("DynamoDB"):
            self._dynamodb.update_item(**update.parameters(self._table))


def build_billing(access: BillingAccess) -> BlockingBilling:
    """Builds the clients of DynamoDB (boto3) and Chargebee (Chargebee's SDK). Neither client makes a call yet.

    Both clients have one time-out for connecting and one for each read, but no deadline for a whole call. So an answer
    that arrives slowly, piece by piece, may take longer. boto3 retries a failed call once. The SDK's own retries are
    off, because the SDK would sleep for the whole Retry-After, and retry a call without limit after status 429.
    """
    config = Config(
        connect_timeout=TABLE_SECONDS / ATTEMPTS,
        read_timeout=TABLE_SECONDS / ATTEMPTS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )
    return BlockingBilling(boto3.client("dynamodb", config=config), access.table, open_site(access))


def _invoice(event: Event) -> Invoice:
    assert event.content.invoice is not None
    return event.content.invoice


def _key(event: Event, operation: str, billable: Billable | None = None) -> dict[str, str]:
    return {IDEMPOTENCY_KEY: charges.idempotency_key(event.id, operation, billable)}
