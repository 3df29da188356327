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


class BatchRefused(Exception):
    """SQS refuses a SendMessageBatch as a whole, for what one of its entries is, or all of them are together.

    `cause` is SQS's code; `too_long`: the entries are longer than a call may be.
    """

    def __init__(self, cause: str, *, too_long: bool) -> None:
        super().__init__(cause)
        self.cause = cause
        self.too_long = too_long


# What a single entry can be the cause of, so that the others would be taken without it. Throttling (RequestThrottled,
# a 400 too), permissions (AccessDenied) and the rest concern every call: asking again, entry by entry, makes it worse.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
_ENTRY_CODES = {
    *("InvalidMessageContents", "InvalidParameterValue", "InvalidParameterCombination", "MissingParameter"),
    *("InvalidAttributeName", "InvalidAttributeValue"),
}
_TOO_LONG = "BatchRequestTooLong"


def batch_refused(error: Exception) -> BatchRefused | None:
    """What `error` of a SendMessageBatch says of its entries; None where it says nothing of them."""
    if not isinstance(error, ClientError):
        return None
    code = _code(error)
    plain = code.rpartition(".")[2].removesuffix("Exception")  # AWS.SimpleQueueService.BatchRequestTooLong, say
    return BatchRefused(code, too_long=plain == _TOO_LONG) if plain in {*_ENTRY_CODES, _TOO_LONG} else None


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code") or type(error).__name__)


def refusal(error: Exception) -> WebhookRefused:
    """The answer to a webhook whose send raised `error`, which may be anything: botocore parses an answer that
    is no answer of SQS's into TypeError, KeyError and more.

    Only a message that SQS refuses for its characters is the sender's fault. Whatever else SQS says,
    Chargebee shall redeliver: a missing queue or permission is ours to mend.
    """
    return refusal_for(_code(error) if isinstance(error, ClientError) else type(error).__name__)


def refusal_for(cause: str) -> WebhookRefused:
    """The same for an error code, as a failed entry of a batch has one."""
    if cause.endswith("InvalidMessageContents"):
        flaw: Flaw = {"loc": [], "msg": "SQS refuses a character of the body", "type": "sqs_character"}
        return InvalidEvent("The body holds a character that SQS refuses", [flaw])
    return QueueUnavailable("The queue did not take the webhook; send it again", cause)
