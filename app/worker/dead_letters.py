"""Messages that can never succeed: sent to the dead-letter queue with the reason, then deleted.

Sent first, deleted after: what fails in between doubles a dead letter, and loses none. On a FIFO queue SQS drops the
second one if it comes within five minutes.
"""

import re
from typing import Any

from app.worker.queue import ConsumedQueue
from app.worker.received import Received
from app.worker.verdict import Poison

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


class DeadLetters:
    """The dead-letter queue."""

    def __init__(self, queue: ConsumedQueue) -> None:
        self._queue = queue

    async def send(self, received: Received, poison: Poison, event_id: str | None) -> None:
        """Returns once SQS has acknowledged it. Raises anything."""
        await self._queue.send(parameters(received, poison, event_id, fifo=self._queue.fifo))


def parameters(received: Received, poison: Poison, event_id: str | None, *, fifo: bool) -> dict[str, Any]:
    """As SendMessage takes it: the body as it was, the reason as attributes."""
    ours = {REASON: _plain(poison.code), DETAIL: _plain(poison.detail), RECEIVE_COUNT: str(received.receives)}
    if event_id is not None and EVENT_ID not in received.attributes:
        ours[EVENT_ID] = event_id
    added = {name: {"DataType": "String", "StringValue": value} for name, value in ours.items()}
    kept = [(name, dict(value)) for name, value in received.attributes.items() if name not in added]
    # The event's id is kept before others, which a foreign message may have.
    kept.sort(key=lambda attribute: attribute[0] != EVENT_ID)
    found: dict[str, Any] = {
        "MessageBody": received.body,
        "MessageAttributes": {**added, **dict(kept[: MOST_ATTRIBUTES - len(added)])},
    }
    if fifo:
        found["MessageGroupId"] = received.group or received.message_id
        found["MessageDeduplicationId"] = received.message_id
    return found


def _plain(text: str) -> str:
    """As an attribute's value, which may not be empty."""
    return _REFUSED.sub(" ", text).strip()[:MOST_DETAIL] or "unknown"
