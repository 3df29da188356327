"""SQS in memory: standard queues that deliver at least once, with visibility timeouts, receive counts and redrive.

`MemorySqs` takes the parameters of aiobotocore's client. SQS does not define whether the receipt handle of an earlier
receive still deletes a message. In this model, each handle deletes the message, because then more faults of the worker
lose messages.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tests.simulation.loop import RESOLUTION
from tests.simulation.table import ANSWERED

DELETED, NOT_IN_FLIGHT, STALE = "InvalidParameterValue", "MessageNotInflight", "ReceiptHandleIsInvalid"


@dataclass
class StoredMessage:
    """A message of a queue. `visible_at`: the end of the visibility timeout, in seconds of the world's time."""

    id: str
    body: str
    attributes: Mapping[str, Any]
    sent_at: float
    visible_at: float
    receives: int = 0

    @property
    def handle(self) -> str:
        return f"{self.id}/{self.receives}"

    @property
    def reason(self) -> str | None:
        """Returns why the worker has sent the message to the dead-letter queue, or None."""
        return str(self.attributes["reason"]["StringValue"]) if "reason" in self.attributes else None


class MemoryQueue:
    """One queue. `dead_letters`: the queue that takes a message after `most_receives` receives."""

    def __init__(self, name: str, dead_letters: "MemoryQueue | None" = None, most_receives: int = 1000) -> None:
        self.name, self._dead_letters, self._most_receives = name, dead_letters, most_receives
        self.messages: dict[str, StoredMessage] = {}
        self._sent = 0

    def send(self, body: str, attributes: Mapping[str, Any], now: float) -> StoredMessage:
        self._sent += 1
        message = StoredMessage(f"{self.name}-{self._sent}", body, attributes, now, now)
        self.messages[message.id] = message
        return message

    def visible(self, now: float) -> list[StoredMessage]:
        """Returns the messages that a receive may return now. Dead-letters messages with too many receives."""
        found = [message for message in self.messages.values() if message.visible_at <= now + RESOLUTION]
        if self._dead_letters is not None:
            for message in [message for message in found if message.receives >= self._most_receives]:
                found.remove(message)
                del self.messages[message.id]
                self._dead_letters.messages[message.id] = message
        return found

    def receive(self, message: StoredMessage, seconds: float, now: float) -> dict[str, Any]:
        message.receives += 1
        message.visible_at = now + seconds
        return {
            "MessageId": message.id,
            "ReceiptHandle": message.handle,
            "Body": message.body,
            "MessageAttributes": message.attributes,
            "Attributes": {
                "ApproximateReceiveCount": str(message.receives),
                "SentTimestamp": str(int(1000 * message.sent_at)),
            },
        }

    def key(self) -> object:
        return self._sent, [(one.id, one.visible_at, one.receives) for one in self.messages.values()]


def event_id(message: StoredMessage) -> str:
    try:
        return str(orjson.loads(message.body)["id"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""


Choose = Callable[[list[StoredMessage], int], Sequence[StoredMessage]]
"""Chooses which of the visible messages a receive returns, at most the given number."""


def oldest(visible: list[StoredMessage], most: int) -> Sequence[StoredMessage]:
    return visible[:most]


def newest(visible: list[StoredMessage], most: int) -> Sequence[StoredMessage]:
    return visible[::-1][:most]


class MemorySqs:
    """The queues by name. `on_delete` receives each message that is deleted."""

    def __init__(
        self, now: Callable[[], float], on_delete: Callable[[MemoryQueue, StoredMessage], None], choose: Choose = oldest
    ) -> None:
        self._now, self._on_delete, self.choose = now, on_delete, choose
        self.queues: dict[str, MemoryQueue] = {}

    def add(self, queue: MemoryQueue) -> MemoryQueue:
        self.queues[queue.name] = queue
        return queue

    def get_queue_url(self, **parameters: Any) -> dict[str, Any]:
        return {**ANSWERED, "QueueUrl": parameters["QueueName"]}

    def get_queue_attributes(self, QueueUrl: str, AttributeNames: Sequence[str]) -> dict[str, Any]:  # noqa: N803
        queue, now = self.queues[QueueUrl], self._now()
        known = {
            "RedrivePolicy": json.dumps({"maxReceiveCount": queue._most_receives}),
            "ApproximateNumberOfMessages": str(len(queue.visible(now))),
        }
        return {**ANSWERED, "Attributes": {name: known[name] for name in AttributeNames}}

    def receive_message(self, **parameters: Any) -> dict[str, Any]:
        queue, now = self.queues[parameters["QueueUrl"]], self._now()
        chosen = self.choose(queue.visible(now), parameters["MaxNumberOfMessages"])
        return {**ANSWERED, "Messages": [queue.receive(one, parameters["VisibilityTimeout"], now) for one in chosen]}

    def send_message(self, **parameters: Any) -> dict[str, Any]:
        body = parameters["MessageBody"]
        queue = self.queues[parameters["QueueUrl"]]
        message = queue.send(body, parameters.get("MessageAttributes", {}), self._now())
        digest = hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
        return {**ANSWERED, "MessageId": message.id, "MD5OfMessageBody": digest}

    def delete_message_batch(self, QueueUrl: str, Entries: Sequence[Any]) -> dict[str, Any]:  # noqa: N803
        queue = self.queues[QueueUrl]
        for entry in Entries:
            message = queue.messages.pop(entry["ReceiptHandle"].partition("/")[0], None)
            if message is not None:
                self._on_delete(queue, message)
        return {**ANSWERED, "Successful": [{"Id": entry["Id"]} for entry in Entries], "Failed": []}

    def change_message_visibility_batch(self, QueueUrl: str, Entries: Sequence[Any]) -> dict[str, Any]:  # noqa: N803
        queue, successful, failed = self.queues[QueueUrl], [], []
        for entry in Entries:
            code = self._change(queue, entry["ReceiptHandle"], entry["VisibilityTimeout"])
            if code is None:
                successful.append({"Id": entry["Id"]})
            else:
                failed.append({"Id": entry["Id"], "Code": code, "SenderFault": True})
        return {**ANSWERED, "Successful": successful, "Failed": failed}

    def _change(self, queue: MemoryQueue, handle: str, seconds: float) -> str | None:
        """Changes the visibility timeout of a message in flight. Returns why this is not possible, or None."""
        message = queue.messages.get(handle.partition("/")[0])
        if message is None:
            return DELETED
        if message.handle != handle:
            return STALE
        if message.visible_at <= self._now():
            return NOT_IN_FLIGHT
        message.visible_at = self._now() + seconds
        return None
