"""Makes the SQS message of an event, and checks whether SQS's answer acknowledges a message.

The message's body is the webhook's body, unchanged. The attributes are for consumers that route messages without
parsing the body. The attribute `traceparent` is for consumers that continue the webhook's trace.
SQS's limits: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, NoReturn

from app.errors import FieldError, InvalidEvent
from app.events import WebhookEvent
from app.telemetry.timestamps import Timestamps
from app.telemetry.trace import current

# SQS accepts only the characters of XML 1.0. JSON contains no raw control characters, and UTF-8 contains no
# surrogates. Therefore, JSON in UTF-8 can contain only two characters that SQS rejects.
_REFUSED = ("\ufffe", "\uffff")
# A MessageGroupId has at most 128 characters. SQS's reference: "can include alphanumeric characters and punctuation".
_GROUP_ID = re.compile(r"[A-Za-z0-9!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]{1,128}")
_TIMESTAMPS = Timestamps(UTC)


class Message(NamedTuple):
    """A message to SQS. Only messages to FIFO queues have `group_id` and `deduplication_id`.

    `size` is the number of bytes that count towards SQS's limits: the body, and each attribute's name, type and value.
    """

    body: str
    attributes: dict[str, str]
    size: int
    group_id: str | None = None
    deduplication_id: str | None = None

    def parameters(self) -> dict[str, Any]:
        """Returns the parameters of SendMessage, except QueueUrl. An entry of SendMessageBatch also has an Id."""
        parameters: dict[str, Any] = {
            "MessageBody": self.body,
            "MessageAttributes": {
                name: {"DataType": "String", "StringValue": value} for name, value in self.attributes.items()
            },
        }
        if self.group_id is not None:
            parameters |= {"MessageGroupId": self.group_id, "MessageDeduplicationId": self.deduplication_id}
        return parameters


class Seen(NamedTuple):
    """The body and the attributes of a message that was received from a queue."""

    body: str
    attributes: dict[str, str]


def to_message(event: WebhookEvent, body: bytes, *, fifo: bool, received_at: datetime | None = None) -> Message:
    """Returns the message for `event`. Raises InvalidEvent if `body` contains a character that SQS rejects."""
    text = body.decode()
    # Two searches, because one regular expression for both characters takes a hundred times as long.
    if _REFUSED[0] in text or _REFUSED[1] in text:
        _refuse(text)
    attributes = {
        "event_id": event.id,
        "event_type": event.event_type,
        "api_version": event.api_version,
        "received_at": _TIMESTAMPS.now() if received_at is None else received_at.isoformat(timespec="milliseconds"),
    }
    if (trace := current.get()) is not None:
        attributes["traceparent"] = trace.traceparent
    # The values are ASCII (see the patterns in `app.events`), so `len` returns their number of bytes.
    size = len(body) + sum(map(len, attributes)) + sum(map(len, attributes.values())) + len("String") * len(attributes)
    if fifo:
        return Message(text, attributes, size, group_id=_group_id(event), deduplication_id=event.id)
    return Message(text, attributes, size)


def traceparents(messages: Sequence[Message]) -> list[str]:
    """Returns the attribute `traceparent` of each message that has one."""
    return [message.attributes["traceparent"] for message in messages if "traceparent" in message.attributes]


def has_message_id(answer: Mapping[str, Any]) -> bool:
    """Returns True if an answer to SendMessage, or a successful entry of a SendMessageBatch, contains a message id."""
    message_id = answer.get("MessageId")
    return isinstance(message_id, str) and message_id.strip() != ""


def has_digest_of(body: str, answer: Mapping[str, Any]) -> bool:
    """Returns True if an answer to SendMessage contains the MD5 of `body`, so SQS has received this body."""
    digest: object = answer.get("MD5OfMessageBody")
    return digest == hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def invalid_character(msg: str) -> InvalidEvent:
    """Returns the error for a body with a character that SQS rejects."""
    invalid: FieldError = {"loc": [], "msg": msg, "type": "sqs_character"}
    return InvalidEvent("The body contains a character that SQS rejects", [invalid])


def _refuse(text: str) -> NoReturn:
    """Raises an InvalidEvent that names the first character that SQS rejects, and its position."""
    at, character = min((text.index(character), character) for character in _REFUSED if character in text)
    raise invalid_character(f"U+{ord(character):04X} at index {at} is not an XML character, so SQS rejects it")


def _group_id(event: WebhookEvent) -> str:
    """Returns the customer's id, so that the events of a customer stay in order in a FIFO queue.

    If SQS does not accept the customer's id, returns a hash of the id. If `event` has no invoice, returns `event.id`.
    """
    customer_id = event.customer_id
    if customer_id is None:
        return event.id
    if _GROUP_ID.fullmatch(customer_id):
        return customer_id
    return hashlib.sha256(customer_id.encode()).hexdigest()
