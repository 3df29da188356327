"""Settings of the queue, and of the client's time-out and batches."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from app.errors import ConfigurationError

KIB, MIB = 1024, 1024 * 1024


def with_host(url: str) -> str:
    """Returns `url`. Raises ValueError unless it names a host and, if it names a port, one from 1 to 65,535."""
    address = urlsplit(url)
    if not address.hostname or address.port == 0:  # `port` raises ValueError above 65,535
        raise ValueError("no host, or port 0")
    return url


QueueUrl = Annotated[
    str,
    # User, password and query are not allowed, because logs and error messages contain the URL.
    StringConstraints(pattern=r"^https?://[^\s@?#]+/[A-Za-z0-9_-]{1,80}(\.fifo)?$"),
    AfterValidator(with_host),
]


class QueueSettings(BaseModel):
    sqs_queue_url: QueueUrl | None = Field(
        None,
        description="Queue that webhooks are sent to.",
        json_schema_extra={"allowed": "an http(s) URL without credentials that ends in the queue's name"},
    )
    sqs_timeout: float = Field(
        10.0,
        gt=0,
        le=60,
        description="Seconds from the complete body to SQS's acknowledgement, waiting and retries included.",
    )
    sqs_batches: int = Field(
        4, ge=1, le=64, description="Maximum SendMessageBatch calls in flight (v09, v10); always 1 on a FIFO queue."
    )
    sqs_batch_bytes: int = Field(
        256 * KIB, ge=1, le=MIB, description="Maximum batch in bytes (v09, v10). SQS accepts 1 MiB, emulators 256 KiB."
    )

    def require_queue_url(self) -> str:
        """Returns APP_SQS_QUEUE_URL. Raises ConfigurationError if it is not set."""
        if self.sqs_queue_url is None:
            raise ConfigurationError("APP_SQS_QUEUE_URL is not set: allowed is the URL of a queue")
        return self.sqs_queue_url
