"""Settings of the SQS queue, of the time-out for calls to SQS (also those of the worker), and of the batches."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from app.errors import ConfigurationError


def with_host(url: str) -> str:
    """Returns `url` unchanged. Raises ValueError if `url` has no host, or a port outside 1 to 65,535."""
    address = urlsplit(url)
    if not address.hostname or address.port == 0:  # above 65,535, `port` itself raises ValueError
        raise ValueError("no host, or port 0")
    return url


QueueUrl = Annotated[
    str,
    # The URL appears in logs and error messages, so it must not contain a user, a password or a query.
    StringConstraints(pattern=r"^https?://[^\s@?#]+/[A-Za-z0-9_-]{1,80}(\.fifo)?$"),
    AfterValidator(with_host),
]


class QueueSettings(BaseModel):
    sqs_queue_url: QueueUrl | None = Field(
        None,
        description="URL of the queue to which the service sends webhooks.",
        json_schema_extra={"allowed": "an http(s) URL without credentials that ends in the queue's name"},
    )
    sqs_timeout: float = Field(
        10.0,
        ge=0.1,
        le=60,
        description="Maximum seconds from the complete body to SQS's acknowledgement, including waiting and retries.",
    )
    sqs_batches: int = Field(
        4, ge=1, le=64, description="Maximum SendMessageBatch calls in flight (from v09 on); always 1 on a FIFO queue."
    )

    def require_queue_url(self) -> str:
        """Returns APP_SQS_QUEUE_URL. Raises ConfigurationError if it is not set."""
        if self.sqs_queue_url is None:
            raise ConfigurationError("APP_SQS_QUEUE_URL is not set: allowed is the URL of a queue")
        return self.sqs_queue_url
