"""Creates what a local run needs in the embedded AWS: two queues and a table."""

import json
from typing import TYPE_CHECKING

from app.billing import schema

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_sqs import SQSClient

QUEUE = "invoice-webhooks"
DEAD_LETTER_QUEUE = "invoice-webhooks-dead-letters"
TABLE = "invoice-webhook-billing"
# SQS moves a message to the dead-letter queue after this many receives. The number is high, because the worker itself
# moves a message that can never succeed. With a usual number such as five, SQS would also move good messages: they are
# received again and again while Chargebee answers 429, or when workers are killed.
MAX_RECEIVE_COUNT = 1000


def create_queues(sqs: "SQSClient") -> tuple[str, str]:
    """Creates the queue and its dead-letter queue, and returns their URLs."""
    dead_letters = sqs.create_queue(QueueName=DEAD_LETTER_QUEUE)["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=dead_letters, AttributeNames=["QueueArn"])["Attributes"]
    redrive = {"deadLetterTargetArn": attributes["QueueArn"], "maxReceiveCount": MAX_RECEIVE_COUNT}
    queue = sqs.create_queue(QueueName=QUEUE, Attributes={"RedrivePolicy": json.dumps(redrive)})["QueueUrl"]
    return queue, dead_letters


def create_table(dynamodb: "DynamoDBClient") -> str:
    """Creates the DynamoDB table in which `app.billing` stores its data, and returns the table's name."""
    dynamodb.create_table(**schema.table(TABLE))
    dynamodb.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": schema.EXPIRY}
    )
    return TABLE
