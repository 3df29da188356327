"""Builds the dead letter for a message that can never succeed: the same body, with the reason in attributes."""

import re
from collections.abc import Mapping
from typing import Any

from app.worker.received_message import ReceivedMessage

# "A message can have up to 10 attributes." A dead letter needs some attributes for the reason, and keeps as many of the
# original message's attributes as fit.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
MAX_ATTRIBUTES = 10
REASON, DETAIL, RECEIVE_COUNT, EVENT_ID = "reason", "detail", "receive_count", "event_id"
# When one_by_one.py moves a dead letter back to the queue, it removes these attributes. SQS's own task keeps them.
REASON_ATTRIBUTES = (REASON, DETAIL, RECEIVE_COUNT)
# Maximum characters of an attribute's value, so that the attributes fit into 4 KiB. SQS accepts 1 MiB for the body and
# the attributes together, and the service accepts bodies of at most 1 MiB - 4 KiB.
MAX_DETAIL = 500
# Control characters such as line breaks, and the other characters that XML 1.0 forbids and SQS rejects in attributes.
_REJECTED = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")


def dead_letter(
    received: ReceivedMessage, code: str, detail: str, event_id: str | None, *, fifo: bool
) -> dict[str, Any]:
    """Returns the parameters of SendMessage for the dead letter of the message `received`."""
    reason = {REASON: _plain(code), DETAIL: _plain(detail), RECEIVE_COUNT: str(received.receive_count)}
    if event_id is not None and EVENT_ID not in received.attributes:
        reason[EVENT_ID] = event_id
    added = {name: {"DataType": "String", "StringValue": value} for name, value in reason.items()}
    kept = [(name, dict(value)) for name, value in received.attributes.items() if name not in added]
    # The event's id comes first, so that it is kept even if a message from another sender has too many attributes.
    kept.sort(key=lambda attribute: attribute[0] != EVENT_ID)
    return parameters(received, {**added, **dict(kept[: MAX_ATTRIBUTES - len(added)])}, fifo=fifo)


def parameters(received: ReceivedMessage, attributes: Mapping[str, Any], *, fifo: bool) -> dict[str, Any]:
    """Returns the parameters of SendMessage for the body of `received` with `attributes`.

    A FIFO queue drops a repeated send within five minutes, because the deduplication id is the message's id.
    """
    found: dict[str, Any] = {"MessageBody": received.body, "MessageAttributes": attributes}
    if fifo:
        found["MessageGroupId"] = received.group or received.message_id
        found["MessageDeduplicationId"] = received.message_id
    return found


def _plain(text: str) -> str:
    """Returns `text` in a form that SQS accepts as an attribute's value."""
    return _REJECTED.sub(" ", text).strip()[:MAX_DETAIL] or "unknown"
