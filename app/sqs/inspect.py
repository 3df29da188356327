"""Counts and receives the messages of a queue with boto3."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from app.errors import CommandFailed, ConfigurationError
from app.sqs.message import Seen
from app.sqs.sdk import require_sdk

# Each receive is a long poll of this many seconds, because a short poll asks only some of SQS's servers, and may return
# nothing although the queue has messages:
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
WAIT_SECONDS = 1


class Counts(NamedTuple):
    """SQS's approximate numbers of messages in a queue."""

    waiting: int
    in_flight: int
    delayed: int


class QueueInspector:
    """Counts and receives the messages of one queue.

    Raises ConfigurationError if the configuration of the AWS SDK is wrong, and CommandFailed if a call to SQS fails.
    """

    def __init__(self, queue_url: str) -> None:
        require_sdk()
        try:
            self._sqs = boto3.client("sqs")
        except BotoCoreError as error:
            raise ConfigurationError(f"AWS: {error}") from None
        self._url = queue_url

    def _call(self, action: str, **parameters: Any) -> Any:
        try:
            return getattr(self._sqs, action)(QueueUrl=self._url, **parameters)
        except (BotoCoreError, ClientError) as error:
            raise CommandFailed(f"{self._url}: {error}") from None

    def _attributes(self) -> dict[str, str]:
        attributes: dict[str, str] = self._call("get_queue_attributes", AttributeNames=["All"])["Attributes"]
        return attributes

    def counts(self) -> Counts:
        attributes = self._attributes()
        suffixes = ("", "NotVisible", "Delayed")
        return Counts(*(int(attributes[f"ApproximateNumberOfMessages{suffix}"]) for suffix in suffixes))

    def receive(self, limit: int) -> Iterator[Seen]:
        """Yields up to `limit` messages, which stay visible to other receivers.

        Raises ConfigurationError if the queue has a redrive policy: SQS would count these receives, too, and move a
        message to the dead-letter queue when its receives exceed the policy's limit.
        """
        if "RedrivePolicy" in self._attributes():
            raise ConfigurationError(
                f"{self._url} has a dead-letter queue: --peek is not allowed, because each receive may move messages"
                " to the dead-letter queue"
            )
        seen: set[str] = set()
        while len(seen) < limit:
            answer = self._call(
                "receive_message",
                MaxNumberOfMessages=min(10, limit - len(seen)),
                VisibilityTimeout=0,
                WaitTimeSeconds=WAIT_SECONDS,
                MessageAttributeNames=["All"],
            )
            fresh = [message for message in answer.get("Messages", []) if message["MessageId"] not in seen]
            if not fresh:
                return
            for message in fresh:
                seen.add(message["MessageId"])
                attributes = message.get("MessageAttributes", {})
                yield Seen(message["Body"], {name: str(value.get("StringValue")) for name, value in attributes.items()})
