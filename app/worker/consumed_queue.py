"""Makes the worker's calls to SQS with aioboto3. Each call has a deadline, and the observers receive its record."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore import xform_name

from app.sqs.async_client import open_client
from app.sqs.failures import require_acknowledgement, require_queue_url, retries_of, without_tracebacks
from app.sqs.queue import QueueAddress
from app.sqs.sdk_calls import Recorded, client_options
from app.telemetry.record import CallRecord, ObserveCall
from app.worker.received_message import ReceivedMessage

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient

MAX_ENTRIES = 10  # SQS's maximum number of messages in a batch or a receive
POLL_SECONDS = 20  # SQS's maximum length of a long poll
ATTEMPTS = 2
CONNECTIONS = 64


class FailedEntry(NamedTuple):
    """A failed entry of a batch. `final`: True if SQS says that the caller made an error, so a retry would fail too."""

    code: str
    final: bool


class ConsumedQueue:
    """A queue of SQS. Calls look up the queue's URL until SQS has returned it. Each method may raise any exception."""

    def __init__(self, client: "SQSClient", address: QueueAddress, call_timeout: float, observe: ObserveCall) -> None:
        self.name, self.fifo = address.name, address.fifo
        self._client: Any = client
        self._address, self._call_timeout, self._observe = address, call_timeout, observe
        self._url: str | None = None

    async def receive(self, most: int, visibility: int, wait: int = POLL_SECONDS) -> list[ReceivedMessage]:
        """Receives up to `most` messages (at most ten), and hides them from other workers for `visibility` seconds.

        If the queue is empty, SQS waits up to `wait` seconds for a message.
        """
        answer = await self._call(
            "ReceiveMessage",
            longer=wait,
            MaxNumberOfMessages=min(most, MAX_ENTRIES),
            WaitTimeSeconds=wait,
            VisibilityTimeout=visibility,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
        )
        return [ReceivedMessage.of(message) for message in answer.get("Messages", [])]

    async def delete(self, receipt_handles: Sequence[str]) -> list[FailedEntry | None]:
        """Deletes at most ten messages. Returns, in order, None for each success and a FailedEntry for each failure."""
        return await self._batch("DeleteMessageBatch", [{"ReceiptHandle": handle} for handle in receipt_handles])

    async def change_visibility(self, changes: Sequence[tuple[str, int]]) -> list[FailedEntry | None]:
        """Sets the visibility timeouts of at most ten messages. Returns their results in the form that `delete` uses.

        `changes`: the receipt handle of each message, and the seconds from now for which SQS hides the message.
        """
        entries = [{"ReceiptHandle": handle, "VisibilityTimeout": seconds} for handle, seconds in changes]
        return await self._batch("ChangeMessageVisibilityBatch", entries)

    async def send(self, parameters: Mapping[str, Any]) -> None:
        """Sends one message with SendMessage's `parameters`, except QueueUrl, and waits for SQS's acknowledgement."""
        answer = await self._call("SendMessage", 1, **parameters)
        require_acknowledgement(answer, parameters["MessageBody"], fifo=self.fifo)

    async def attributes(self, *names: str) -> dict[str, str]:
        """Returns the attributes `names` of the queue."""
        answer = await self._call("GetQueueAttributes", AttributeNames=list(names))
        return dict(answer.get("Attributes", {}))

    async def start_move(self, source: str, destination: str, most: int) -> None:
        """Starts SQS's task that moves all messages from the queue `source` to the queue `destination` (both are ARNs).

        `most`: the maximum number of messages per second.
        """
        await self._call(
            "StartMessageMoveTask", SourceArn=source, DestinationArn=destination, MaxNumberOfMessagesPerSecond=most
        )

    async def last_move(self, source: str) -> dict[str, Any]:
        """Returns the newest task that moves messages from the queue with the ARN `source`."""
        answer = await self._call("ListMessageMoveTasks", SourceArn=source, MaxResults=1)
        return dict(answer["Results"][0])

    async def _batch(self, operation: str, entries: Sequence[Mapping[str, Any]]) -> list[FailedEntry | None]:
        """Makes one call for all `entries`. Returns, in order, None for a success and a FailedEntry for a failure.

        An entry has succeeded if the answer lists the entry under Successful and does not list it under Failed.
        """
        numbered = [{"Id": str(number), **entry} for number, entry in enumerate(entries)]
        answer = await self._call(operation, len(entries), Entries=numbered)
        failed = {
            entry["Id"]: FailedEntry(str(entry.get("Code")), final=entry.get("SenderFault") is True)
            for entry in answer.get("Failed", [])
        }
        done = {entry["Id"] for entry in answer.get("Successful", [])} - failed.keys()
        unanswered = FailedEntry("Unanswered", final=False)
        return [None if entry["Id"] in done else failed.get(entry["Id"], unanswered) for entry in numbered]

    async def _call(
        self, operation: str, messages: int | None = None, longer: float = 0, **parameters: Any
    ) -> dict[str, Any]:
        """Makes one call and returns the answer. The deadline is the call time-out plus `longer` seconds."""
        try:
            with Recorded(CallRecord(operation, messages), ATTEMPTS, self._observe) as record:
                async with asyncio.timeout(self._call_timeout + longer):
                    if "SourceArn" not in parameters:
                        parameters["QueueUrl"] = self._url or await self._resolve()
                    answer: dict[str, Any] = await getattr(self._client, xform_name(operation))(**parameters)
                record.retries = retries_of(answer, ATTEMPTS)
                record.refused = [str(entry.get("Code")) for entry in answer.get("Failed", [])]
        except Exception as error:
            raise without_tracebacks(error) from None
        return answer

    async def _resolve(self) -> str:
        answer = await self._client.get_queue_url(**self._address.parameters())
        self._url = require_queue_url(answer)
        return self._url


@asynccontextmanager
async def open_queues(
    source: QueueAddress, dead_letters: QueueAddress, call_timeout: float, observe: ObserveCall
) -> AsyncIterator[tuple[ConsumedQueue, ConsumedQueue]]:
    """Yields the queue and its dead-letter queue. Makes no call, so that the worker can start while SQS is down.

    `call_timeout`: seconds for one API call, including retries. A long poll may take POLL_SECONDS longer.
    """
    connect, read = call_timeout / ATTEMPTS, POLL_SECONDS + call_timeout
    options = client_options(ATTEMPTS, connect=connect, read=read, connections=CONNECTIONS)
    async with open_client("sqs", options) as client:
        queues = [ConsumedQueue(client, address, call_timeout, observe) for address in (source, dead_letters)]
        yield queues[0], queues[1]
