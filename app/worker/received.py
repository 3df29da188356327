"""A message as ReceiveMessage gives it.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Message.html
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self


class Received(NamedTuple):
    """One message. `attributes`: as SQS has them, with their types; `receives`: how often, so far, this one included.

    `sent_at`: seconds since the epoch; `group`: its MessageGroupId, which a standard queue may have, too.
    """

    message_id: str
    receipt: str
    body: str
    attributes: Mapping[str, Mapping[str, Any]]
    receives: int = 1
    sent_at: float | None = None
    group: str | None = None

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Self:
        """Raises KeyError and ValueError where the answer is not SQS's."""
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
        """The message attribute of that name."""
        value = self.attributes.get(name, {}).get("StringValue")
        return value if isinstance(value, str) and value else None

    def waited(self, now: float) -> float | None:
        """Seconds from the webhook's arrival (`received_at`), else from sending, until `now`, since the epoch."""
        since = self.sent_at
        try:
            moment = datetime.fromisoformat(self.text("received_at") or "")
        except ValueError:
            pass
        else:
            # Without an offset it would be read as this machine's local time.
            since = moment.timestamp() if moment.tzinfo is not None else since
        return None if since is None else max(now - since, 0.0)
