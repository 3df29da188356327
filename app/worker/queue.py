"""The calls that a worker makes to SQS by aioboto3, each with a deadline; the observers receive a record of each."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import aioboto3
from aiobotocore.config import AioConfig
from botocore import xform_name

from app.sqs.failures import (
    code_of,
    free_attempts,
    require_acknowledgement,
    require_queue_url,
    retries_of,
    without_tracebacks,
)
from app.sqs.queue import QueueAddress
from app.telemetry.record import CallRecord, ObserveCall
from app.worker.received import Received

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient

MOST_ENTRIES = 10  # of a batch, and of a receive
POLL_SECONDS = 20  # SQS's longest
ATTEMPTS = 2
CONNECTIONS = 64


class Refusal(NamedTuple):
    """Of one entry of a batch. `final`: repeating it changes nothing, since SQS calls it the sender's fault."""

    code: str
    final: bool


class ConsumedQueue:
    """One queue. Its URL is resolved by the first call that succeeds, and kept. Every method raises anything."""

    def __init__(self, client: "SQSClient", address: QueueAddress, call_timeout: float, observe: ObserveCall) -> None:
        self.name, self.fifo = address.name, address.fifo
        self._client: Any = client
        self._address = address
        self._call_timeout = call_timeout
        self._observe = observe
        self._url: str | None = None

    async def receive(self, most: int, visibility: int, wait: int = POLL_SECONDS) -> list[Received]:
        """Up to `most` (ten) messages, hidden for `visibility` seconds; waits for the first one up to `wait`."""
        answer = await self._call(
            "ReceiveMessage",
            0,
            wait,
            MaxNumberOfMessages=min(most, MOST_ENTRIES),
            WaitTimeSeconds=wait,
            VisibilityTimeout=visibility,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
        )
        return [Received.of(message) for message in answer.get("Messages", [])]

    async def delete(self, receipts: Sequence[str]) -> list[Refusal | None]:
        """At most ten."""
        entries = [{"Id": str(number), "ReceiptHandle": receipt} for number, receipt in enumerate(receipts)]
        return _refusals(await self._call("DeleteMessageBatch", len(entries), Entries=entries), entries)

    async def change(self, changes: Sequence[tuple[str, int]]) -> list[Refusal | None]:
        """At most ten receipts, each with the seconds for which its message stays hidden from now on."""
        entries = [
            {"Id": str(number), "ReceiptHandle": receipt, "VisibilityTimeout": seconds}
            for number, (receipt, seconds) in enumerate(changes)
        ]
        return _refusals(await self._call("ChangeMessageVisibilityBatch", len(entries), Entries=entries), entries)

    async def send(self, parameters: Mapping[str, Any]) -> None:
        """One message, as SendMessage takes it without its QueueUrl; returns once SQS has acknowledged it."""
        answer = await self._call("SendMessage", 1, **parameters)
        require_acknowledgement(answer, parameters["MessageBody"], fifo=self.fifo)

    async def attributes(self, *names: str) -> dict[str, str]:
        """Those of the queue that it has."""
        answer = await self._call("GetQueueAttributes", 0, AttributeNames=list(names))
        return dict(answer.get("Attributes", {}))

    async def start_move(self, source: str, destination: str, most: int) -> None:
        """A task that moves all messages from one ARN to the other, at most so many a second."""
        await self._call(
            "StartMessageMoveTask", 0, SourceArn=source, DestinationArn=destination, MaxNumberOfMessagesPerSecond=most
        )

    async def last_move(self, source: str) -> dict[str, Any]:
        """The newest task from that ARN."""
        answer = await self._call("ListMessageMoveTasks", 0, SourceArn=source, MaxResults=1)
        return dict(answer["Results"][0])

    async def _call(self, operation: str, messages: int, longer: float = 0, **parameters: Any) -> dict[str, Any]:
        """Makes one call within the deadline of a call and `longer` seconds, and returns the answer."""
        record = CallRecord(operation, messages)
        try:
            async with asyncio.timeout(self._call_timeout + longer):
                if "SourceArn" not in parameters:
                    parameters["QueueUrl"] = self._url or await self._resolve()
                answer: dict[str, Any] = await getattr(self._client, xform_name(operation))(**parameters)
            record.retries, record.code = retries_of(answer, ATTEMPTS), None
            record.refused = [str(entry.get("Code")) for entry in answer.get("Failed", [])]
        except Exception as error:
            record.retries, record.code = retries_of(error, ATTEMPTS), code_of(error)
            raise without_tracebacks(error) from None
        finally:
            record.ended = perf_counter()
            self._observe(record)
        return answer

    async def _resolve(self) -> str:
        answer = await self._client.get_queue_url(**self._address.parameters())
        self._url = require_queue_url(answer)
        return self._url


def _refusals(answer: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> list[Refusal | None]:
    """Returns, for each entry, None or the failure. An entry in neither list or in both lists of the answer failed."""
    failed = {
        entry["Id"]: Refusal(str(entry.get("Code")), final=entry.get("SenderFault") is True)
        for entry in answer.get("Failed", [])
    }
    done = {entry["Id"] for entry in answer.get("Successful", [])} - failed.keys()
    unanswered = Refusal("Unanswered", final=False)
    return [None if entry["Id"] in done else failed.get(entry["Id"], unanswered) for entry in entries]


def client_config(call_timeout: float, connections: int | None) -> AioConfig:
    """Returns the client's time-outs and retries. Besides these, `ConsumedQueue` sets a deadline for each call."""
    connect_timeout_of_an_attempt = call_timeout / ATTEMPTS
    read_timeout_of_a_long_poll = POLL_SECONDS + call_timeout
    return AioConfig(
        connect_timeout=connect_timeout_of_an_attempt,
        read_timeout=read_timeout_of_a_long_poll,
        max_pool_connections=connections or CONNECTIONS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )


@asynccontextmanager
async def open_queues(
    source: QueueAddress, dead_letters: QueueAddress, call_timeout: float, connections: int | None, observe: ObserveCall
) -> AsyncIterator[tuple[ConsumedQueue, ConsumedQueue]]:
    """Yields the source queue and the dead-letter queue. Makes no call, because SQS may be down.

    `call_timeout`: seconds for one API call, its retries included; a long poll may wait for POLL_SECONDS more.
    """
    async with aioboto3.Session().client("sqs", config=client_config(call_timeout, connections)) as client:
        free_attempts(client)
        yield (
            ConsumedQueue(client, source, call_timeout, observe),
            ConsumedQueue(client, dead_letters, call_timeout, observe),
        )
