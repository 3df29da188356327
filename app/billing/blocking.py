"""Does the billing work of v01 with blocking clients: boto3 and Chargebee's own SDK. Each call blocks its thread.

If a step fails, BillingUnavailable is raised. Then Chargebee sends the webhook again, and the work begins again. Every
step may be repeated, because each charge has an idempotency key and a reference. Chargebee keeps the key for 30
minutes. The reference is in the description of the charge's line and stays on the invoice.
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

CONFLICT = "invalid_state_for_request"  # Chargebee's code: most likely, the invoice is already closed
PENDING = "pending"
FREE_OR_OWN = "attribute_exists(#pk) AND (attribute_not_exists(#invoice_id) OR #invoice_id = :invoice)"
ATTEMPTS = 2
TABLE_SECONDS = 10.0


class InvoiceState(NamedTuple):
    """The state of an invoice at Chargebee: whether the invoice is pending, and all of its line items."""

    pending: bool
    lines: list[Line]


class BlockingBilling:
    """The steps of the billing work for an event with an invoice. Every step may raise BillingUnavailable.

    Until 1.3.0, v01 did not reserve billable events before charging. So a billable event without a reservation may also
    be on the invoice.
    """

    def __init__(self, dynamodb: "DynamoDBClient", table: str, site: "chargebee.Chargebee") -> None:
        self._dynamodb = dynamodb
        self._table = table
        self._invoices: Any = site.Invoice

    def read(self, event: Event) -> InvoiceState:
        """Retrieves the state of the invoice from Chargebee.

        An earlier attempt may have changed the invoice, and the event may lack some lines of a long invoice.
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
        """Returns the billable events of the period that no other invoice has reserved.

        If the invoice is closed, returns only those events whose charges are on the invoice.
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
        """Reserves and charges each event that is not on the invoice yet, with one API call for each charge."""
        there = charges.charged(billables, added(state.lines, _invoice(event).line_items))
        for billable in charges.without(billables, there):
            reserved = self._reserved(event, billable)
            charge = {"amount": billable.amount, "description": charges.described(billable)}
            with failing("Chargebee"):
                self._invoices.add_charge(_invoice(event).id, charge, _key(event, "add_charge", reserved))

    def _reserved(self, event: Event, billable: Billable) -> Billable:
        """Reserves the event for the invoice, unless an earlier attempt has reserved it. Returns the reserved event."""
        if billable.invoice_id is not None:
            return billable
        now = int(time.time())
        self._update(event, billable, "SET #invoice_id = :invoice, #reserved_at = :now", now)
        return replace(billable, reserved_at=now)

    def close(self, event: Event, state: InvoiceState) -> None:
        """Closes the invoice, unless the invoice is already closed."""
        if state.pending:
            try:
                with failing("Chargebee"):
                    self._invoices.close(_invoice(event).id, {}, _key(event, "close"))
            except BillingUnavailable as error:
                if CONFLICT not in error.cause or self.read(event).pending:
                    raise

    def mark(self, event: Event, billables: Sequence[Billable]) -> None:
        """Marks each event in the table as billed on the invoice, with one call for each event."""
        for billable in billables:
            self._update(event, billable, "SET #invoice_id = :invoice, #billed_at = :now", int(time.time()))

    def _update(self, event: Event, billable: Billable, change: str, now: int) -> None:
        key = charges.billable_key(_invoice(event).customer_id, billable)
        update = Update(key, change, FREE_OR_OWN, invoice=_invoice(event).id, now=now)
        with failing("DynamoDB"):
            self._dynamodb.update_item(**update.parameters(self._table))


def build_billing(access: BillingAccess) -> BlockingBilling:
    """Builds a client of boto3's default session, and a client of Chargebee's SDK. Neither client makes a call yet.

    Both clients have time-outs for connecting and for each read. So only an answer that arrives slowly, piece by piece,
    has no deadline. boto3 repeats a failed call once. The retries of the SDK are off, because the SDK sleeps for the
    whole Retry-After, and repeats a call without limit after a 429.
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
