"""Makes the calls of release v01 to DynamoDB and Chargebee. Each call blocks the thread until it is answered.

The clients decide nothing: app/web/releases/v01_inline.py does the billing work.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import boto3
import requests
from botocore.config import Config

from app.billing.access import BillingAccess
from app.billing.answers import ApiAnswer, FoundInvoice, FoundLine, content_of, invoice_of
from app.billing.items import Item, Key, Update, Value
from app.sqs.sdk_calls import client_options

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

# For one try, the time-outs for connecting and for a read add up to ten seconds.
CONFIG = Config(**client_options(2, connect=5, read=5))


class BlockingClients(NamedTuple):
    """boto3's client of DynamoDB, and the access to Chargebee. Each call to Chargebee opens a new connection.

    The methods raise the exceptions of boto3 and requests. Calls to Chargebee also raise BillingFailed and
    InvalidState.
    """

    access: BillingAccess
    dynamodb: "DynamoDBClient"

    def items(self, customer_id: str, first: str, last: str) -> list[Item]:
        """Returns the customer's items whose sort key is between `first` and `last`."""
        keys = {":pk": f"customer#{customer_id}", ":first": first, ":last": last}
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.access.table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={name: {"S": value} for name, value in keys.items()},
        )
        return [item for page in pages for item in page["Items"]]

    def set(self, key: Key, attributes: Mapping[str, Value], *, remove: Iterable[str], unless: str) -> None:
        """Sets and removes an item's attributes. Raises ClientError if the item has the attribute named `unless`."""
        change = "SET " + ", ".join(f"#{name} = :{name}" for name in attributes)
        change += " REMOVE " + ", ".join(f"#{name}" for name in remove)
        update = Update(key, change, f"attribute_not_exists(#{unless})", **attributes)
        self.dynamodb.update_item(**update.parameters(self.access.table))

    def lines(self, invoice_id: str) -> list[FoundLine]:
        """Returns the line items of all pages of the invoice."""
        page = self._call("GET", invoice_id)
        lines = page.line_items
        while page.line_items_next_offset is not None:
            page = self._call("GET", invoice_id, f"?line_items_offset={quote(page.line_items_next_offset)}")
            lines += page.line_items
        return lines

    def change(self, invoice_id: str, operation: str, key: str, form: Mapping[str, object]) -> FoundInvoice:
        """Changes the invoice and returns it. `operation`: `add_charge` or `close`; `key`: the idempotency key."""
        return self._call("POST", invoice_id, f"/{operation}", key, form)

    def _call(self, method: str, invoice_id: str, path: str = "", key: str = "", form: Any = None) -> FoundInvoice:
        url = f"{self.access.site_url}/api/v2/invoices/{quote(invoice_id, safe='')}{path}"
        login = (self.access.api_key.get_secret_value(), "")
        headers = {"chargebee-idempotency-key": key} if key else {}
        seconds = self.access.call_timeout / 2  # the time-out for connecting, and for each read
        answer = requests.request(
            method, url, data=form, auth=login, headers=headers, timeout=seconds, allow_redirects=False
        )
        return invoice_of(content_of(ApiAnswer(answer.status_code, answer.headers, answer.content)))


def build_clients(access: BillingAccess) -> BlockingClients:
    """Builds the clients without calling DynamoDB or Chargebee."""
    return BlockingClients(access, boto3.client("dynamodb", config=CONFIG))
