"""What SQS clients raise, in the words of our error tree."""

from botocore.exceptions import BotoCoreError, ClientError

from app.errors import Flaw, InvalidEvent, QueueUnavailable, WebhookRefused

# What a send can raise when SQS has not acknowledged the message.
SEND_ERRORS = (BotoCoreError, ClientError, TimeoutError, OSError)


def refusal(error: Exception) -> WebhookRefused:
    """The answer to a webhook whose send raised `error` (one of SEND_ERRORS).

    Only a message that SQS refuses for its characters is the sender's fault. Whatever else SQS says,
    Chargebee shall redeliver: a missing queue or permission is ours to mend.
    """
    cause = type(error).__name__
    if isinstance(error, ClientError):
        cause = error.response.get("Error", {}).get("Code", cause)
    return refusal_for(cause)


def refusal_for(cause: str) -> WebhookRefused:
    """The same for an error code, as a failed entry of a batch has one."""
    if cause.endswith("InvalidMessageContents"):
        flaw: Flaw = {"loc": [], "msg": "SQS refuses a character of the body", "type": "sqs_character"}
        return InvalidEvent("The body holds a character that SQS refuses", [flaw])
    return QueueUnavailable("The queue did not take the webhook; send it again", cause)
