"""The blocking clients of the billing work, for v01: boto3, and Chargebee's own SDK. Each call blocks its thread.

What goes wrong is a BillingUnavailable: Chargebee sends the webhook again, and the work goes on from where it stands.
It may be repeated from any point: a charge has an idempotency key, which Chargebee keeps for 30 minutes, and its
reference in the line's description, which stays.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import boto3
import chargebee
from botocore.config import Config

from app.billing import charges
from app.billing.charges import Billable
from app.errors import BillingUnavailable
from app.events import Event, Invoice
from app.settings import Settings
from app.sqs.failures import code_of

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

IDEMPOTENCY_KEY = chargebee.Chargebee.idempotency_header
CONFLICT = 409
PENDING = "pending"
ATTEMPTS = 2
TABLE_SECONDS = 10.0


class BlockingBilling:
    """The steps of the work, for events with an invoice: `unbilled`, `add`, `close`, `mark`.

    All of them raise BillingUnavailable.
    """

    def __init__(self, dynamodb: "DynamoDBClient", table: str, site: "chargebee.Chargebee") -> None:
        self._dynamodb = dynamodb
        self._table = table
        self._invoices: Any = site.Invoice

    def unbilled(self, event: Event) -> list[Billable]:
        """What the customer used in the invoice's period and no other invoice has."""
        invoice = _invoice(event)
        first, last = charges.period(event, invoice)
        pages = self._dynamodb.get_paginator("query")
        with _failing("DynamoDB"):
            found = pages.paginate(
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="pk = :customer AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":customer": {"S": charges.customer_key(invoice.customer_id)},
                    ":first": {"S": charges.billable_key(first)},
                    ":last": {"S": charges.billable_key(last, "~")},
                },
            )
            items = [charges.billable_of(item) for page in found for item in page["Items"]]
        return [item for item in items if item.invoice_id in (None, invoice.id)]

    def add(self, event: Event, billables: Sequence[Billable]) -> list[Billable]:
        """Adds those that the invoice does not have, if it is still pending; returns those that it has then."""
        invoice = _invoice(event)
        with _failing("Chargebee"):
            status, there = self._read(invoice.id)
            if status != PENDING:
                return [billable for billable in billables if billable.id in there]
            for billable in billables:
                if billable.id not in there:
                    charge = {"amount": billable.amount, "description": charges.line(billable)}
                    self._invoices.add_charge(invoice.id, charge, _key(event, "add_charge", billable.id))
        return list(billables)

    def close(self, event: Event) -> None:
        """Returns once the invoice is closed, by this call or by an earlier one."""
        invoice = _invoice(event)
        with _failing("Chargebee"):
            try:
                self._invoices.close(invoice.id, {}, _key(event, "close"))
            except chargebee.APIError as error:
                if error.http_status_code != CONFLICT or self._read(invoice.id)[0] == PENDING:
                    raise

    def mark(self, event: Event, billables: Sequence[Billable]) -> None:
        """Notes in the table which invoice has them."""
        invoice = _invoice(event)
        values: Any = {":invoice": {"S": invoice.id}, ":now": {"N": str(int(time.time()))}}
        with _failing("DynamoDB"):
            for billable in billables:
                self._dynamodb.update_item(
                    TableName=self._table,
                    Key={
                        "pk": {"S": charges.customer_key(invoice.customer_id)},
                        "sk": {"S": charges.billable_key(billable.occurred_at, billable.id)},
                    },
                    UpdateExpression="SET invoice_id = :invoice, billed_at = :now",
                    ConditionExpression="attribute_not_exists(invoice_id) OR invoice_id = :invoice",
                    ExpressionAttributeValues=values,
                )

    def _read(self, invoice_id: str) -> tuple[str, set[str]]:
        """The invoice's status, and the references in all of its lines."""
        descriptions: list[str] = []
        page: dict[str, Any] = {}
        while True:
            invoice = self._invoices.retrieve(invoice_id, page).invoice
            descriptions += [line.description for line in invoice.line_items or []]
            offset = getattr(invoice, "line_items_next_offset", None)
            if offset is None:
                return str(invoice.status), charges.references(descriptions)
            page = {"line_items_offset": offset}


def build_billing(settings: Settings) -> BlockingBilling:
    """A client of boto3's default session and one of Chargebee's SDK; no call is made yet.

    Both have time-outs for connecting and for each read, so that only an answer that keeps dripping has no deadline.
    boto3 repeats a call once. The SDK does not: its repetition sleeps for as long as Chargebee's Retry-After says, and
    never gives up on a 429.
    """
    assert settings.billing_table is not None
    config = Config(
        connect_timeout=TABLE_SECONDS / ATTEMPTS,
        read_timeout=TABLE_SECONDS / ATTEMPTS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )
    return BlockingBilling(boto3.client("dynamodb", config=config), settings.billing_table, _site(settings))


def _site(settings: Settings) -> "chargebee.Chargebee":
    assert settings.chargebee_url is not None
    assert settings.chargebee_api_key is not None
    scheme = urlsplit(settings.chargebee_url).scheme
    seconds: Any = settings.chargebee_timeout / 2
    site = chargebee.Chargebee(
        settings.chargebee_api_key.get_secret_value(),
        site="",
        protocol=scheme,
        connection_time_out=seconds,
        read_time_out=seconds,
    )
    # The SDK derives it from the name of a site. And it takes http only where the class says so, not the object
    # (chargebee 3.29, http_request.py).
    site.env.api_endpoint = f"{settings.chargebee_url.rstrip('/')}/api/{site.env.API_VERSION}"
    chargebee.Chargebee.verify_ca_certs = scheme == "https"
    return site


def _invoice(event: Event) -> Invoice:
    assert event.content.invoice is not None
    return event.content.invoice


def _key(event: Event, operation: str, billable_id: str = "") -> dict[str, str]:
    return {IDEMPOTENCY_KEY: charges.idempotency_key(event.id, operation, billable_id)}


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Turns whatever a client raises into our error."""
    try:
        yield
    except Exception as error:
        # The SDK raises a bare Exception for an answer that is not JSON.
        cause = getattr(error, "api_error_code", None) or code_of(error)
        raise BillingUnavailable("The billing work could not be done; send it again", f"{what}: {cause}") from error
