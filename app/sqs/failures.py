"""What SQS clients raise, in the words of our error tree."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from app.errors import Flaw, InvalidEvent, QueueUnavailable, WebhookRefused


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


def refusal(error: Exception) -> WebhookRefused:
    """The answer to a webhook whose send raised `error`, which may be anything: botocore parses an answer that
    is no answer of SQS's into TypeError, KeyError and more.

    Only a message that SQS refuses for its characters is the sender's fault. Whatever else SQS says,
    Chargebee shall redeliver: a missing queue or permission is ours to mend.
    """
    cause = type(error).__name__
    if isinstance(error, ClientError):
        cause = str(error.response.get("Error", {}).get("Code") or cause)
    return refusal_for(cause)


def refusal_for(cause: str) -> WebhookRefused:
    """The same for an error code, as a failed entry of a batch has one."""
    if cause.endswith("InvalidMessageContents"):
        flaw: Flaw = {"loc": [], "msg": "SQS refuses a character of the body", "type": "sqs_character"}
        return InvalidEvent("The body holds a character that SQS refuses", [flaw])
    return QueueUnavailable("The queue did not take the webhook; send it again", cause)
