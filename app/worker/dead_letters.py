"""The dead letter of a message that can never succeed: the message, with the reason. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from app.worker.received import Received

# "A message can have up to 10 attributes": of the original's, as many as fit beside ours.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
MOST_ATTRIBUTES = 10
REASON, DETAIL, RECEIVE_COUNT, EVENT_ID = "reason", "detail", "receive_count", "event_id"
# What a redrive removes again.
OURS = (REASON, DETAIL, RECEIVE_COUNT)
# In the 4 KiB that APP_MAX_BODY_BYTES leaves of SQS's 1 MiB, whatever its characters.
MOST_DETAIL = 500
# What XML 1.0 does not have, which SQS refuses in attributes, too; and line breaks.
_REFUSED = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")


def dead_letter(received: Received, code: str, detail: str, event_id: str | None, *, fifo: bool) -> dict[str, Any]:
    """Returns the parameters of SendMessage: the body as it was, and the reason as attributes."""
    ours = {REASON: _plain(code), DETAIL: _plain(detail), RECEIVE_COUNT: str(received.receives)}
    if event_id is not None and EVENT_ID not in received.attributes:
        ours[EVENT_ID] = event_id
    added = {name: {"DataType": "String", "StringValue": value} for name, value in ours.items()}
    kept = [(name, dict(value)) for name, value in received.attributes.items() if name not in added]
    # The event's id is kept before others, which a foreign message may have.
    kept.sort(key=lambda attribute: attribute[0] != EVENT_ID)
    return parameters(received, {**added, **dict(kept[: MOST_ATTRIBUTES - len(added)])}, fifo=fifo)


def parameters(received: Received, attributes: Mapping[str, Any], *, fifo: bool) -> dict[str, Any]:
    """Returns the parameters of SendMessage for the same body with `attributes`.

    On a FIFO queue SQS drops a second one that comes within five minutes.
    """
    found: dict[str, Any] = {"MessageBody": received.body, "MessageAttributes": attributes}
    if fifo:
        found["MessageGroupId"] = received.group or received.message_id
        found["MessageDeduplicationId"] = received.message_id
    return found


def _plain(text: str) -> str:
    """Returns `text` as an attribute's value, which may not be empty."""
    return _REFUSED.sub(" ", text).strip()[:MOST_DETAIL] or "unknown"
