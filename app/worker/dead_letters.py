"""Makes the dead letter of a message that can never succeed: the same body, and the reason as attributes."""

import re
from collections.abc import Mapping
from typing import Any

from app.worker.received_message import ReceivedMessage

# "A message can have up to 10 attributes": a dead letter has the reason's attributes, and keeps as many of the original
# message's attributes as there is room for.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
MAX_ATTRIBUTES = 10
REASON, DETAIL, RECEIVE_COUNT, EVENT_ID = "reason", "detail", "receive_count", "event_id"
# A redrive removes these attributes again.
REASON_ATTRIBUTES = (REASON, DETAIL, RECEIVE_COUNT)
# Maximum characters of an attribute. In UTF-8, they fit into the 4 KiB that APP_MAX_BODY_BYTES leaves of SQS's 1 MiB.
MAX_DETAIL = 500
# Line breaks, and the characters that XML 1.0 excludes. SQS rejects the excluded characters in attributes, too.
_REJECTED = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")


def dead_letter(
    received: ReceivedMessage, code: str, detail: str, event_id: str | None, *, fifo: bool
) -> dict[str, Any]:
    """Returns the parameters of SendMessage for the dead letter: the original body, and the reason as attributes."""
    reason = {REASON: _plain(code), DETAIL: _plain(detail), RECEIVE_COUNT: str(received.receive_count)}
    if event_id is not None and EVENT_ID not in received.attributes:
        reason[EVENT_ID] = event_id
    added = {name: {"DataType": "String", "StringValue": value} for name, value in reason.items()}
    kept = [(name, dict(value)) for name, value in received.attributes.items() if name not in added]
    # The event's id is kept first, because a message from another sender may have too many attributes.
    kept.sort(key=lambda attribute: attribute[0] != EVENT_ID)
    return parameters(received, {**added, **dict(kept[: MAX_ATTRIBUTES - len(added)])}, fifo=fifo)


def parameters(received: ReceivedMessage, attributes: Mapping[str, Any], *, fifo: bool) -> dict[str, Any]:
    """Returns the parameters of SendMessage for the same body with `attributes`.

    A FIFO queue drops a repeated send within five minutes, because the deduplication id is the message's id.
    """
    found: dict[str, Any] = {"MessageBody": received.body, "MessageAttributes": attributes}
    if fifo:
        found["MessageGroupId"] = received.group or received.message_id
        found["MessageDeduplicationId"] = received.message_id
    return found


def _plain(text: str) -> str:
    """Returns `text` as an attribute's value, which may not be empty."""
    return _REJECTED.sub(" ", text).strip()[:MAX_DETAIL] or "unknown"
