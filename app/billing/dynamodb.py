"""Calls the DynamoDB table with aioboto3. Each process has one client, and every call has a deadline."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from botocore import xform_name
from botocore.exceptions import ClientError

from app.billing.items import Item, Update, Value, placeholders
from app.errors import TableUnavailable, Unprocessable
from app.sqs.async_client import open_client
from app.sqs.failures import NotAcknowledgedError, code_of, retries_of, without_tracebacks
from app.sqs.sdk_calls import Recorded, client_options
from app.telemetry.record import DYNAMODB, CallRecord, ObserveCall, unobserved
from app.telemetry.trace import current_traceparents

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient

ATTEMPTS = 3
CALL_SECONDS = 5.0
CONFLICT_PAUSES = (0.05, 0.2)  # seconds before the second and the third try of a transaction, after a conflict
UNPROCESSED_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)  # seconds before further tries for keys that DynamoDB has left out
BATCH = 100  # maximum number of keys in one BatchGetItem
TRANSACTION = 100  # maximum number of actions in one TransactWriteItems

# DynamoDB's error codes for a value that it can never store. But if the message says "does not match the schema", the
# cause is a table with the wrong keys: a retry can succeed after a person has corrected the deployment.
INVALID = frozenset({"ValidationException", "ValidationError"})

# The calls of TransactWriteItems pass no ClientRequestToken, because botocore adds one itself. The token makes
# botocore's retries idempotent.


class ConditionFailed(Exception):
    """DynamoDB has written nothing, because the condition of at least one update was not met.

    `items` has an entry for each update: None if the update's condition was met, otherwise the item in the table. If
    the table has no such item, the entry is {}.
    """

    def __init__(self, items: Sequence[Item | None]) -> None:
        super().__init__("the condition of an update was not met")
        self.items = items


class Table:
    """A DynamoDB table. `observe` receives the record of each call."""

    def __init__(self, client: "DynamoDBClient", name: str, observe: ObserveCall = unobserved) -> None:
        self._client, self._observe = client, observe
        self.name = name

    async def update(self, update: Update) -> Item:
        """Writes one update and returns the new item. Raises ConditionFailed, TableUnavailable, Unprocessable."""
        parameters = update.parameters(self.name) | {"ReturnValues": "ALL_NEW"}
        answer = await self._call("UpdateItem", **parameters)
        if "Attributes" not in answer:
            raise TableUnavailable("DynamoDB's answer to UpdateItem contains no item", "table_unreadable")
        item: Item = answer["Attributes"]
        return item

    async def transact(self, updates: Sequence[Update]) -> None:
        """Writes all updates in one transaction, or none of them. `updates`: at most TRANSACTION updates.

        Raises ConditionFailed, TableUnavailable. Raises Unprocessable if DynamoDB can never store a value.
        """
        actions: list[Any] = [{"Update": update.parameters(self.name)} for update in updates]
        for pause in (*CONFLICT_PAUSES, None):
            try:
                await self._call("TransactWriteItems", TransactItems=actions)
                return
            except TableUnavailable as error:
                if error.code != "TransactionConflict" or pause is None:
                    raise
                # Another call was writing one of the items at the same time. botocore does not retry this error.
                await asyncio.sleep(pause)

    async def write(self, updates: Sequence[Update]) -> None:
        """Writes all updates, or none of them.

        Writes a single update with UpdateItem, which costs half as much as a transaction. Raises ConditionFailed,
        TableUnavailable. Raises Unprocessable if DynamoDB can never store a value.
        """
        await (self.update(updates[0]) if len(updates) == 1 else self.transact(updates))

    async def query(self, keys: str, only: str | None = None, **values: Value) -> list[Item]:
        """Returns the items whose keys meet the condition `keys`, and which meet the filter `only` unless it is None.

        `values`: the value of each `:name` in `keys` and `only`. Raises TableUnavailable, Unprocessable.
        """
        expressions = {"KeyConditionExpression": keys} | ({} if only is None else {"FilterExpression": only})
        return [item async for page in self._pages("Query", expressions, values) for item in page]

    def scan(self, only: str, **values: Value) -> AsyncIterator[list[Item]]:
        """Reads the whole table, and yields each page's items that meet the filter `only`.

        Some pages may be empty. `values`: the value of each `:name` in `only`. Raises TableUnavailable, Unprocessable.
        """
        return self._pages("Scan", {"FilterExpression": only}, values)

    async def _pages(
        self, operation: str, expressions: Mapping[str, str], values: Mapping[str, Value]
    ) -> AsyncIterator[list[Item]]:
        parameters = {**expressions, **placeholders(" ".join(expressions.values()), values)}
        start: dict[str, Any] = {}
        while True:
            answer = await self._call(operation, TableName=self.name, ConsistentRead=True, **parameters, **start)
            yield answer["Items"]
            if not answer.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    async def get_all(self, keys: Sequence[dict[str, Any]]) -> list[Item]:
        """Returns the items that exist for these keys. Raises TableUnavailable, Unprocessable."""
        found: list[Item] = []
        for start in range(0, len(keys), BATCH):
            found += await self._get_batch(keys[start : start + BATCH])
        return found

    async def _get_batch(self, keys: Sequence[dict[str, Any]]) -> list[Item]:
        """Returns the items that exist for at most BATCH keys.

        DynamoDB leaves out some keys if the table's capacity is used up. This method then requests these keys again.
        """
        found: list[Item] = []
        request: Any = {self.name: {"Keys": list(keys), "ConsistentRead": True}}
        for pause in (*UNPROCESSED_PAUSES, None):
            answer = await self._call("BatchGetItem", RequestItems=request)
            found += answer["Responses"].get(self.name, [])
            request = answer.get("UnprocessedKeys")
            if not request:
                break
            if pause is None:
                raise TableUnavailable("DynamoDB left out items of a batch again and again", "unprocessed_keys")
            await asyncio.sleep(pause)
        return found

    async def _call(self, operation: str, **parameters: Any) -> Any:
        record = CallRecord(operation, traceparents=current_traceparents(), system=DYNAMODB)
        with Recorded(record, ATTEMPTS, self._observe):
            try:
                async with asyncio.timeout(CALL_SECONDS):
                    answer = await getattr(self._client, xform_name(operation))(**parameters)
                record.retries = retries_of(answer, ATTEMPTS)
                if not answer["ResponseMetadata"].get("RequestId"):
                    raise NotAcknowledgedError  # the answer is not from DynamoDB, but perhaps from a proxy
            except Exception as error:
                record.retries = retries_of(error, ATTEMPTS)
                _raise(error, record)
        return answer


def _raise(error: Exception, record: CallRecord) -> NoReturn:
    """Raises ConditionFailed, Unprocessable or TableUnavailable in place of `error`. Writes the error code to `record`.

    `error` may be any exception, because botocore raises unexpected exceptions if an answer is not from AWS.
    """
    without_tracebacks(error)
    record.code = code_of(error)
    if isinstance(error, ClientError):
        response: Any = error.response
        reasons = response.get("CancellationReasons", ())
        if record.code == "ConditionalCheckFailedException":
            record.code = None  # a condition that is not met is no failure of the table
            raise ConditionFailed([response.get("Item", {})]) from error
        if any(reason.get("Code") == "ConditionalCheckFailed" for reason in reasons):
            record.code = None
            failed = [
                reason.get("Item", {}) if reason.get("Code") == "ConditionalCheckFailed" else None for reason in reasons
            ]
            raise ConditionFailed(failed) from error
        codes = (str(reason["Code"]) for reason in reasons if reason.get("Code", "None") != "None")
        record.code = next(codes, record.code)
        if record.code in INVALID and "schema" not in str(error):
            raise Unprocessable("DynamoDB can never store a value of this event", "table_validation") from error
        raise TableUnavailable("DynamoDB rejected a call", record.code) from error
    raise TableUnavailable("DynamoDB cannot be reached, or does not answer in time", record.code) from error


@asynccontextmanager
async def open_table(name: str, connections: int, observe: ObserveCall = unobserved) -> AsyncIterator[Table]:
    """Yields the table. The client connects on the first call, and opens at most `connections` connections.

    `observe` receives the record of each call.
    """
    connect, read = CALL_SECONDS / ATTEMPTS, CALL_SECONDS  # `Table` also limits the time of all tries together
    options = client_options(ATTEMPTS, connect=connect, read=read, connections=connections)
    async with open_client("dynamodb", options) as client:
        yield Table(client, name, observe)
