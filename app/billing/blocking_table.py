"""Reads and changes a customer's billable events with boto3, whose calls block the thread, for release v01."""

import time
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from app.billing.chargebee_sdk import failing
from app.billing.charges import Billable, billable_key
from app.billing.items import Item, Update

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

FREE_OR_OWN = "attribute_exists(#pk) AND (attribute_not_exists(#invoice_id) OR #invoice_id = :invoice)"
ATTEMPTS = 2
TABLE_SECONDS = 10.0


class BlockingTable:
    """The table with the billable events."""

    def __init__(self, dynamodb: "DynamoDBClient", name: str) -> None:
        self._dynamodb, self._name = dynamodb, name

    def items(self, customer_id: str, first: str, last: str) -> list[Item]:
        """Returns the customer's items whose sort key is between `first` and `last`. Raises a botocore error."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._name,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": f"customer#{customer_id}"},
                ":first": {"S": first},
                ":last": {"S": last},
            },
        )
        return [item for page in pages for item in page["Items"]]

    def set(self, customer_id: str, billable: Billable, invoice_id: str, attribute: str) -> int:
        """Sets the billable event's `invoice_id`, and `attribute` to the unix time, which is returned.

        Raises BillingUnavailable, for example if the billable event is reserved for another invoice.
        """
        now = int(time.time())
        key, change = billable_key(customer_id, billable), f"SET #invoice_id = :invoice, #{attribute} = :now"
        update = Update(key, change, FREE_OR_OWN, invoice=invoice_id, now=now)
        with failing("DynamoDB"):
            self._dynamodb.update_item(**update.parameters(self._name))
        return now


def open_table(name: str) -> BlockingTable:
    """Opens the table `name`. The client makes no call yet."""
    config = Config(
        connect_timeout=TABLE_SECONDS / ATTEMPTS,
        read_timeout=TABLE_SECONDS / ATTEMPTS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )
    return BlockingTable(boto3.client("dynamodb", config=config), name)
