"""A message as ReceiveMessage returns it.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Message.html
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, Self


class ReceivedMessage(NamedTuple):
    """One message. `attributes`: the message attributes with their types, as SQS returns them.

    `receive_count`: how many times the message was received, including this time. `sent_at`: seconds since the epoch.
    `group`: the MessageGroupId, which a message of a standard queue may have as well.
    """

    message_id: str
    receipt_handle: str
    body: str
    attributes: Mapping[str, Mapping[str, Any]]
    receive_count: int = 1
    sent_at: float | None = None
    group: str | None = None

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Self:
        """Parses one message in the answer of ReceiveMessage. Raises KeyError or ValueError if its format is wrong."""
        system = message.get("Attributes", {})
        sent = system.get("SentTimestamp")
        return cls(
            message["MessageId"],
            message["ReceiptHandle"],
            message["Body"],
            message.get("MessageAttributes", {}),
            max(int(system.get("ApproximateReceiveCount", 1)), 1),
            int(sent) / 1000 if sent else None,
            system.get("MessageGroupId"),
        )

    def text(self, name: str) -> str | None:
        """Returns the value of the message attribute `name`, or None if it is missing, empty or not a string."""
        value = self.attributes.get(name, {}).get("StringValue")
        return value if isinstance(value, str) and value else None

    def waited(self, now: float) -> float | None:
        """Returns how many seconds the message has waited, or None if the start of the wait is unknown.

        The wait starts at the webhook's arrival, which is the message attribute `received_at`. If this attribute is
        missing or invalid, the wait starts at `sent_at`. `now`: seconds since the epoch.
        """
        since = self.sent_at
        with suppress(ValueError):
            moment = datetime.fromisoformat(self.text("received_at") or "")
            # A time without an offset is ignored, because Python would read it as local time.
            since = moment.timestamp() if moment.tzinfo is not None else since
        return None if since is None else max(now - since, 0.0)
