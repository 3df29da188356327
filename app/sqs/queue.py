"""What all clients of SQS share: a queue's address, the interface for group commit, the meaning of error codes."""

import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol, Self

from app.errors import FieldError, InvalidEvent, QueueUnavailable, WebhookRefused
from app.sqs.message import Message, has_message_id
from app.telemetry.record import CallRecord


class QueueAddress(NamedTuple):
    """The name and account of a queue. If `account` is None, GetQueueUrl searches the caller's own account."""

    name: str
    account: str | None

    @classmethod
    def at(cls, url: str) -> Self:
        """Returns the address in a queue's URL: the last segment is the name; the segment before may be an account."""
        *_, account, name = url.split("/")
        return cls(name, account if re.fullmatch(r"\d{12}", account) else None)

    @property
    def fifo(self) -> bool:
        return self.name.endswith(".fifo")

    def parameters(self) -> dict[str, str]:
        """Returns the parameters of GetQueueUrl."""
        owner = {"QueueOwnerAWSAccountId": self.account} if self.account else {}
        return {"QueueName": self.name, **owner}


class Entries:
    """Makes the entries of SendMessageBatch. Each call has new ids, so an answer cannot acknowledge another call."""

    def __init__(self) -> None:
        self._calls = count()

    def of(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Returns the entries of one SendMessageBatch, one for each message."""
        call = next(self._calls)
        return [{"Id": f"{call}-{number}", **message.parameters()} for number, message in enumerate(messages)]


class BatchQueue(Protocol):
    """A client that group commit can use."""

    fifo: bool

    async def send_batch(
        self, messages: Sequence[Message], deadline: float, record: CallRecord
    ) -> list[WebhookRefused | None]:
        """Sends at most ten messages and returns, for each, None or why SQS did not acknowledge it.

        `deadline`: the time, on the event loop's clock, when the last attempt must end. A message that the answer does
        not mention counts as not acknowledged. `record` receives the codes and the number of retries. Raises
        BatchRefused if SQS rejects the call because of its entries, and QueueUnavailable if no answer arrives in time.
        """
        ...


class BatchRefused(Exception):
    """SQS rejected a whole SendMessageBatch because of one of its entries, or because the entries are too long.

    `cause` is SQS's code. `too_long` means that the entries together exceed the limit of a call.
    """

    def __init__(self, cause: str, *, too_long: bool) -> None:
        super().__init__(cause)
        self.cause = cause
        self.too_long = too_long


# Error codes that one entry can cause: without this entry, SQS would accept the others. Throttling (RequestThrottled,
# also a 400), permissions (AccessDenied) and other codes concern every call: sending entries alone would only add load.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
_ENTRY_CODES = {
    *("InvalidMessageContents", "InvalidParameterValue", "InvalidParameterCombination", "MissingParameter"),
    *("InvalidAttributeName", "InvalidAttributeValue"),
}
_TOO_LONG = "BatchRequestTooLong"


def batch_refused(code: str) -> BatchRefused | None:
    """Returns the exception if one bad entry can make SendMessageBatch fail with this error code, otherwise None."""
    plain = code.rpartition(".")[2].removesuffix("Exception")  # e.g. AWS.SimpleQueueService.BatchRequestTooLong
    return BatchRefused(code, too_long=plain == _TOO_LONG) if plain in {*_ENTRY_CODES, _TOO_LONG} else None


def refusal(code: str) -> WebhookRefused:
    """Returns the error for a webhook whose message, alone or in a batch, failed with `code`.

    Only a character that SQS rejects is the sender's fault. After any other code, even for a missing queue or
    permission, Chargebee should redeliver.
    """
    if code.endswith("InvalidMessageContents"):
        invalid: FieldError = {"loc": [], "msg": "SQS rejects a character of the body", "type": "sqs_character"}
        return InvalidEvent("The body contains a character that SQS rejects", [invalid])
    return QueueUnavailable("The queue did not take the webhook; send it again", code)


def outcomes(answer: Mapping[str, Any], ids: Sequence[str], record: CallRecord) -> list[WebhookRefused | None]:
    """Returns, for each entry of an answered SendMessageBatch, None or the error for its caller.

    `record` receives the codes. An entry that the answer lists as both successful and failed counts as failed: a
    repeated webhook does no harm, a lost webhook does. If the answer has another shape, any exception may be raised.
    """
    codes = {entry["Id"]: str(entry["Code"]) for entry in answer.get("Failed") or []}
    acknowledged = {entry["Id"] for entry in answer.get("Successful") or [] if has_message_id(entry)} - codes.keys()
    failed = {name: codes.get(name, "Unanswered") for name in ids if name not in acknowledged}
    record.code, record.refused = None, list(failed.values())
    return [refusal(failed[name]) if name in failed else None for name in ids]
