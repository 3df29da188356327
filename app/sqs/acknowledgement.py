"""The members by which an answer of SQS acknowledges a message."""

from collections.abc import Mapping
from typing import Any


def has_message_id(answer: Mapping[str, Any]) -> bool:
    """Whether `answer` (of SendMessage, or a Successful entry) has the id that SQS gave to the message."""
    message_id = answer.get("MessageId")
    return isinstance(message_id, str) and message_id.strip() != ""
