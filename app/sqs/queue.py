"""Defines what all SQS clients share: a queue's address, limits on sending, the interface BatchQueue, and errors."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

from app.errors import QueueUnavailable, WebhookRefused
from app.sqs.message import Message, has_message_id, invalid_character
from app.telemetry.record import CallRecord


class QueueAddress(NamedTuple):
    """The name and account of a queue. If `account` is None, GetQueueUrl searches the caller's own account."""

    name: str
    account: str | None

    @classmethod
    def at(cls, url: str) -> Self:
        """Returns the address in a queue's URL. The last segment of the path is the queue's name.

        The segment before the name is the account if it consists of twelve digits. Otherwise, `account` is None.
        """
        *_, account, name = url.split("/")
        return cls(name, account if re.fullmatch(r"\d{12}", account) else None)

    @property
    def fifo(self) -> bool:
        return self.name.endswith(".fifo")

    def parameters(self) -> dict[str, str]:
        """Returns the parameters of GetQueueUrl."""
        owner = {"QueueOwnerAWSAccountId": self.account} if self.account else {}
        return {"QueueName": self.name, **owner}


class SendLimits(NamedTuple):
    """Limits on sending messages to one queue.

    `deadline`: maximum seconds from a call of `send` until SQS acknowledges the message, including waiting and retries
    (with boto3 only approximately).
    `connections`: the size of the connection pool of the AWS SDK's clients.
    `calls`: if fewer than `calls` SendMessageBatch calls are in flight, the next one may have any number of messages.
    `full_calls`: if at least `calls`, but fewer than `full_calls` calls are in flight, the next one begins only with a
    full batch. The larger of `calls` and `full_calls` is the maximum, but a FIFO queue has at most one call in flight.
    `call_bytes`: the maximum total size of the messages in one call, in bytes. A longer message is sent alone.
    """

    deadline: float = 10.0
    connections: int = 10
    calls: int = 4
    full_calls: int = 16
    call_bytes: int = 256 * 1024


def entries_of(messages: Sequence[Message], call: int) -> list[dict[str, Any]]:
    """Returns the entries of SendMessageBatch: one for each message, with an `Id`.

    `call`: a number that no other call of the client has, so that an answer cannot acknowledge the messages of another
    call by mistake.
    """
    return [{"Id": f"{call}-{number}", **message.parameters()} for number, message in enumerate(messages)]


class BatchQueue(Protocol):
    """A client that group commit can use."""

    fifo: bool

    async def send_batch(
        self, messages: Sequence[Message], deadline: float, record: CallRecord
    ) -> list[WebhookRefused | None]:
        """Sends at most ten messages. Returns a list with, for each message, None if SQS acknowledged it, or an error.

        `deadline`: the time, on the event loop's clock, when the last attempt must end. A message that the answer does
        not mention counts as not acknowledged. The method writes the error codes and the number of retries to `record`.
        Raises BatchRefused if SQS rejects the whole call because of its messages, and QueueUnavailable if the call
        fails for another reason.
        """
        ...


class BatchRefused(Exception):
    """SQS rejected a whole SendMessageBatch because of one message, or because the messages together are too long.

    `cause` is SQS's error code. `too_long` is True if the messages together exceed the maximum size of a call.
    """

    def __init__(self, cause: str, *, too_long: bool) -> None:
        super().__init__(cause)
        self.cause = cause
        self.too_long = too_long


# Error codes that one wrong message in a batch can cause. SQS can accept the other messages if each one is sent alone.
# After any other code, such as RequestThrottled or AccessDenied, sending each message alone would only add load.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
_ENTRY_CODES = {
    *("InvalidMessageContents", "InvalidParameterValue", "InvalidParameterCombination", "MissingParameter"),
    *("InvalidAttributeName", "InvalidAttributeValue"),
}
_TOO_LONG = "BatchRequestTooLong"


def batch_refused(code: str) -> BatchRefused | None:
    """Returns a BatchRefused if the messages of a batch can be the cause of the error `code`, otherwise None."""
    # A code may have a prefix, as in AWS.SimpleQueueService.BatchRequestTooLong, or the suffix "Exception".
    plain = code.rpartition(".")[2].removesuffix("Exception")
    return BatchRefused(code, too_long=plain == _TOO_LONG) if plain in {*_ENTRY_CODES, _TOO_LONG} else None


def refusal(code: str, *, sent: bool) -> WebhookRefused:
    """Returns the error for a webhook whose message SQS did not accept. `code`: SQS's code or an exception's name.

    `sent`: True if SQS may have the message nevertheless.

    The result is InvalidEvent only if SQS rejects a character of the body. After any other code, even for a missing
    queue or permission, Chargebee should send the webhook again.
    """
    if code.endswith("InvalidMessageContents"):
        return invalid_character("SQS rejects a character in the body")
    return QueueUnavailable("SQS did not accept the message; send this webhook again", code, sent=sent)


def outcomes(answer: Mapping[str, Any], ids: Sequence[str], record: CallRecord) -> list[WebhookRefused | None]:
    """Returns, for each entry in `ids`, None if the answer to SendMessageBatch acknowledges the entry, or an error.

    Writes the error codes to `record`. A message that the answer lists as both successful and failed counts as failed,
    because a repeated webhook does no harm, but a lost one does. May raise any exception if the answer is malformed.
    """
    codes = {entry["Id"]: str(entry["Code"]) for entry in answer.get("Failed") or []}
    acknowledged = {entry["Id"] for entry in answer.get("Successful") or [] if has_message_id(entry)} - codes.keys()
    failed = {name: codes.get(name, "Unanswered") for name in ids if name not in acknowledged}
    record.code, record.refused = None, list(failed.values())
    if not failed:
        return [None] * len(ids)
    # Only SenderFault (the sender made an error) makes it certain that SQS does not have the message.
    rejected = {entry["Id"] for entry in answer.get("Failed") or [] if entry.get("SenderFault") is True}
    return [refusal(failed[name], sent=name not in rejected) if name in failed else None for name in ids]
