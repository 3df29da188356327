"""Creates the table, for `python -m app setup`. deploy/aws/billing.yaml defines the same table for CloudFormation."""

from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from app.errors import CommandFailed, ConfigurationError
from app.sqs.failures import code_of
from app.sqs.sdk_calls import client_options

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

EXPIRY = "expires_at"
ACTIVE_SECONDS = 120
CONFIG = Config(**client_options(3, connect=5, read=10))


def table(name: str) -> dict[str, Any]:
    """Returns the parameters of CreateTable."""
    return {
        "TableName": name,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        "BillingMode": "PAY_PER_REQUEST",
    }


def set_up(name: str, *, dry_run: bool = False) -> list[str]:
    """Creates the table if it does not exist, and enables its TTL. Raises ConfigurationError, CommandFailed.

    Returns two lines that say what was done. With `dry_run`, changes nothing, and the lines say what would be done.
    The AWS SDK's environment variables set the endpoint, the region and the credentials.
    """
    client: DynamoDBClient = boto3.client("dynamodb", config=CONFIG)
    try:
        return [_set_up_table(client, name, dry_run), _set_up_expiry(client, name, dry_run)]
    except (BotoCoreError, ClientError) as error:
        raise CommandFailed(f"The table {name} could not be set up: {code_of(error)}: {error}") from None
    finally:
        client.close()


def _set_up_table(client: "DynamoDBClient", name: str, dry_run: bool) -> str:
    found = _described(client, name)
    if found is not None:
        if found["KeySchema"] != table(name)["KeySchema"]:
            raise ConfigurationError(f"The table {name} exists, but with other keys: allowed are pk and sk")
        return f"The table {name} exists"
    if dry_run:
        return f"The table {name} would be created: keys pk and sk (strings), on-demand capacity"
    try:
        client.create_table(**table(name))
    except client.exceptions.ResourceInUseException:
        return f"The table {name} is being created by another process"
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": ACTIVE_SECONDS})
    return f"The table {name} was created: keys pk and sk (strings), on-demand capacity"


def _set_up_expiry(client: "DynamoDBClient", name: str, dry_run: bool) -> str:
    exists = not dry_run or _described(client, name) is not None
    known = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"] if exists else {}
    if known.get("TimeToLiveStatus") in ("ENABLED", "ENABLING"):
        if known.get("AttributeName") != EXPIRY:
            raise ConfigurationError(f"The table {name} has a TTL on another attribute: allowed is {EXPIRY}")
        return f"The table has its time to live: DynamoDB deletes each item at the time in its attribute {EXPIRY}"
    if dry_run:
        return f"A time to live would be set up: DynamoDB would delete each item at the time in its attribute {EXPIRY}"
    client.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": EXPIRY})
    return f"From now on, DynamoDB deletes each item of the table at the time in the item's attribute {EXPIRY}"


def _described(client: "DynamoDBClient", name: str) -> Any:
    try:
        return client.describe_table(TableName=name)["Table"]
    except client.exceptions.ResourceNotFoundException:
        return None
