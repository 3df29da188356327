"""The members by which an answer of SQS acknowledges a message."""

import hashlib
from collections.abc import Mapping
from typing import Any


def has_message_id(answer: Mapping[str, Any]) -> bool:
    """Whether `answer` (of SendMessage, or a Successful entry) has the id that SQS gave to the message."""
    message_id = answer.get("MessageId")
    return isinstance(message_id, str) and message_id.strip() != ""


def has_digest_of(body: str, answer: Mapping[str, Any]) -> bool:
    """Whether `answer` (of SendMessage) has the MD5 of `body`; the answer to another call has not."""
    digest: object = answer.get("MD5OfMessageBody")
    return digest == hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
