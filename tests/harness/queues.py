"""Reads the queues of a queue process (see `loadtest.stage.queues`) for tests."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from local.embedded_aws import EmbeddedAws

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

    from tests.harness.service import Service


class Queued(Protocol):
    """The webhooks that a service has accepted. Reading removes them."""

    def clear(self) -> None: ...

    def messages(self) -> list[tuple[bytes, dict[str, str]]]: ...

    def bodies(self) -> list[bytes]: ...


# Starts a service. The arguments are a name, and settings.
Serve = Callable[..., "tuple[Service, Queued]"]


class Queue:
    """Implements `Queued` for a service that enqueues, with the messages in its SQS queue."""

    def __init__(self, sqs: "SQSClient", queue_url: str) -> None:
        self._sqs = sqs
        self._url = queue_url

    def clear(self) -> None:
        drain(self._sqs, self._url)

    def messages(self) -> list[tuple[bytes, dict[str, str]]]:
        return drain(self._sqs, self._url)

    def bodies(self) -> list[bytes]:
        return [body for body, _ in self.messages()]


def environment(endpoint: str) -> dict[str, str]:
    """Returns the variables with which the service's SDK calls the queue process at `endpoint`."""
    return EmbeddedAws(0, endpoint).environment()


def drain(sqs: "SQSClient", queue_url: str) -> list[tuple[bytes, dict[str, str]]]:
    """Removes all messages from the queue. Returns the body and the attributes of each message."""
    taken: list[tuple[bytes, dict[str, str]]] = []
    while True:
        messages = sqs.receive_message(
            QueueUrl=queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], WaitTimeSeconds=0
        ).get("Messages", [])
        if not messages:
            return taken
        for message in messages:
            attributes = {name: value["StringValue"] for name, value in message.get("MessageAttributes", {}).items()}
            taken.append((message["Body"].encode(), attributes))
        sqs.delete_message_batch(
            QueueUrl=queue_url,
            Entries=[{"Id": str(i), "ReceiptHandle": m["ReceiptHandle"]} for i, m in enumerate(messages)],
        )
