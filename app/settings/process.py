"""The settings that the web process and the worker have in common."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.errors import ConfigurationError


def with_host(url: str) -> str:
    """Returns `url` unchanged. Raises ValueError if `url` has no host, or a port outside 1 to 65,535."""
    address = urlsplit(url)
    if not address.hostname or address.port == 0:  # above 65,535, `port` itself raises ValueError
        raise ValueError("no host, or port 0")
    return url


def _split(value: Any) -> Any:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


COMMA_SEPARATED = BeforeValidator(_split)
EventType = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,100}$")]
QueueUrl = Annotated[
    str,
    # The URL appears in logs and error messages, so it must not contain a user, a password or a query.
    StringConstraints(pattern=r"^https?://[^\s@?#]+/[A-Za-z0-9_-]{1,80}(\.fifo)?$"),
    AfterValidator(with_host),
]


class ProcessSettings(BaseSettings):
    """One field per variable: `sqs_timeout` is APP_SQS_TIMEOUT. Raises pydantic's ValidationError for a wrong value."""

    # Without hide_input_in_errors, pydantic's messages would contain the values, including secrets.
    model_config = SettingsConfigDict(
        env_prefix="APP_", frozen=True, extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

    host: str = Field("127.0.0.1", description="Address on which the process listens. The image sets 0.0.0.0.")
    port: int = Field(8000, ge=0, le=65535, description="Port on which the process listens; 0 picks a free port.")
    sqs_queue_url: QueueUrl | None = Field(
        None,
        description="URL of the queue with the webhooks.",
        json_schema_extra={"allowed": "an http(s) URL without credentials that ends in the queue's name"},
    )
    sqs_timeout: float = Field(
        10.0,
        ge=0.1,
        le=60,
        description="Maximum seconds of a call to SQS, including retries. For a webhook, they begin when its body is"
        " complete, and include waiting.",
    )
    event_types: Annotated[frozenset[EventType], NoDecode, Field(min_length=1), COMMA_SEPARATED] = Field(
        frozenset({"pending_invoice_created"}),
        description="Event types to enqueue. The service answers 200 to other events and ignores them. The worker bills"
        " pending_invoice_created only.",
        json_schema_extra={"allowed": "names of a–z, 0–9 and _, separated by commas"},
    )
    graceful_timeout: int = Field(
        30,
        ge=1,
        le=600,
        description="Maximum seconds that the process waits, when it stops, for requests or messages in flight.",
    )
    block_warn: float | None = Field(
        None,
        ge=0.01,
        le=60,
        description="Seconds for which a line of code may block the event loop. The watchdog counts each longer block,"
        " and logs each blocking line once. Not set: no watchdog.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Lowest severity that the process logs."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="Format of the log: JSON lines or text. auto: text on a terminal, else JSON."
    )
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port on APP_HOST on which a separate thread serves /metrics for Prometheus; 0 picks a free port."
        " Not set: no /metrics.",
    )

    def require_queue_url(self) -> str:
        """Returns APP_SQS_QUEUE_URL. Raises ConfigurationError if it is not set."""
        if self.sqs_queue_url is None:
            raise ConfigurationError("APP_SQS_QUEUE_URL is not set: allowed is the URL of a queue")
        return self.sqs_queue_url
