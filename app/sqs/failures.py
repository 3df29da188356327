"""botocore's answers and errors, as `queue.py` has them."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError


class NotAcknowledgedError(Exception):
    """An answer of 200 that names no message: a proxy's page, say, or an endpoint that is not SQS."""


def require_acknowledgement(answer: Mapping[str, Any]) -> None:
    """Raises NotAcknowledgedError unless `answer` (of SendMessage, or a Successful entry) has a MessageId.

    botocore turns whatever it gets with a 200 into a dictionary, and does not look what is in it.
    """
    message_id = answer.get("MessageId")
    if not isinstance(message_id, str) or not message_id:
        raise NotAcknowledgedError


def require_queue_url(answer: Mapping[str, Any]) -> str:
    """The URL in an answer of GetQueueUrl. Raises NotAcknowledgedError."""
    url = answer.get("QueueUrl")
    if not isinstance(url, str) or not url:
        raise NotAcknowledgedError
    return url


def code_of(error: Exception) -> str:
    """SQS's error code, or the name of what the client raised.

    That may be anything: botocore parses an answer that is not SQS's into TypeError, KeyError and more.
    """
    if not isinstance(error, ClientError):
        return type(error).__name__
    return str(error.response.get("Error", {}).get("Code") or type(error).__name__)
