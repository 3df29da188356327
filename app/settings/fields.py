"""Every setting: its type, default and bounds, and what people are told of it."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.errors import ConfigurationError
from app.settings.release import NEWEST, Release

KIB, MIB = 1024, 1024 * 1024


class Settings(BaseSettings):
    """One field a variable: `max_body_bytes` is APP_MAX_BODY_BYTES. README's table is made of this."""

    # hide_input_in_errors: pydantic's own messages would show the secrets among the values.
    model_config = SettingsConfigDict(
        env_prefix="APP_", frozen=True, extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

    release: Release = Field(NEWEST, description="Which release of the history handles the webhooks.")
    threadpool_tokens: int | None = Field(
        None, ge=1, le=1000, description="Threads for blocking work, instead of the release's own (v02 to v07)."
    )
    warm_clients: bool = Field(
        True, description="Build one SQS client at the start; 0 shows the lesson of the cold clients (v02 to v05)."
    )
    middleware: Literal["none", "asgi", "base_http"] = Field(
        "none", description="A request-id and timing middleware: pure ASGI, or Starlette's BaseHTTPMiddleware."
    )
    response: Literal["json", "orjson", "model"] = Field(
        "model", description="How a 200 becomes JSON: json.dumps, orjson, or pydantic-core by the return type."
    )
    profile: bool = Field(
        False, description="Profile webhooks with pyinstrument, one at a time, into `profiles` of APP_RUN_DIR."
    )
    docs: bool = Field(
        False, description="Serve /docs and /openapi.json, with the files of fastapi-offline; local mode turns it on."
    )
    local: bool = Field(False, description="Bring an embedded AWS along (a laptop, a demo); nothing real is touched.")
    local_sqs_delay: float = Field(
        0.0, ge=0, le=60, description="Seconds that the embedded SQS lets every call wait, to show what waiting costs."
    )
    run_dir: Path = Field(
        Path(".run"),
        description="Where a local run leaves its address (`local.json`).",
        json_schema_extra={"allowed": "a folder"},
    )

    host: str = Field("127.0.0.1", description="Address to listen on; a container wants 0.0.0.0.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    loop: Literal["uvloop", "asyncio"] = Field("uvloop", description="Event loop.")
    gc: Literal["tuned", "default"] | None = Field(
        None, description="Python's garbage collector: rare passes (v08 and later), or as Python has it (v02 to v07)."
    )
    http: Literal["httptools", "h11"] = Field("httptools", description="HTTP parser.")
    backlog: int = Field(2048, ge=1, le=65535, description="Connections the kernel keeps waiting for accept.")
    accept: Literal["all", "one"] = Field(
        "all", description="Connections taken in when some wait: all, or one in each turn of the loop, as uvloop does."
    )
    max_connections: int = Field(
        8192, ge=0, description="Connections open at once; past it, the longest idle one is closed. 0: no bound."
    )
    head_timeout: float = Field(
        10.0, gt=0, le=300, description="Seconds within which the head of a request must be complete."
    )
    limit_concurrency: int | None = Field(
        None, ge=1, description="uvicorn's own bound: past it, 503 as text/plain, probes included."
    )
    keep_alive_timeout: int = Field(
        65, ge=1, le=3600, description="Seconds an idle connection lives; keep it above the load balancer's."
    )
    access_log: bool = Field(False, description="uvicorn's line for each request, besides ours for each webhook.")
    drain_delay: float = Field(
        5.0, ge=0, le=300, description="Seconds between SIGTERM and closing the listener (readyz 503, webhooks 503)."
    )
    graceful_timeout: int = Field(
        30, ge=1, le=600, description="Seconds that requests in flight may take once the listener is closed."
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least severe line to log.")
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="JSON lines or text; auto: text on a terminal."
    )

    basic_auth_username: str | None = Field(None, description="User that Chargebee sends.")
    basic_auth_password: SecretStr | None = Field(None, description="Password that Chargebee sends.")
    basic_auth_previous_username: str | None = Field(None, description="Second pair, accepted while rotating.")
    basic_auth_previous_password: SecretStr | None = Field(None, description="Second pair, accepted while rotating.")

    event_types: Annotated[
        frozenset[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,100}$")]], NoDecode, Field(min_length=1)
    ] = Field(
        frozenset({"pending_invoice_created"}),
        description="Event types to enqueue; others are answered 200 and ignored.",
        json_schema_extra={"allowed": "names of a–z, 0–9 and _, separated by commas"},
    )
    max_body_bytes: int = Field(
        245_760, ge=1, le=MIB - 4 * KIB, description="Longest body. SQS takes 1 MiB with attributes, emulators 256 KiB."
    )
    body_timeout: float = Field(10.0, gt=0, le=300, description="Seconds within which the body must be complete.")
    max_wait: float = Field(
        5.0,
        ge=0,
        le=300,
        description="Seconds; while webhooks would wait longer for their answer, new ones get 503. 0: no bound.",
    )
    max_in_flight: int = Field(4096, ge=1, description="Webhooks handled at once, per process; past it, 503.")
    max_buffered_bytes: int = Field(
        64 * MIB, ge=1, description="Bytes of bodies held at once, per process; past it, 503."
    )

    sqs_queue_url: str | None = Field(
        None,
        # Without user, password and query: the URL is shown wherever the queue is named.
        pattern=r"^https?://[^\s@?#]+/[A-Za-z0-9_-]{1,80}(\.fifo)?$",
        description="Where webhooks go.",
        json_schema_extra={"allowed": "an http(s) URL without credentials that ends in the queue's name"},
    )
    sqs_timeout: float = Field(
        10.0, gt=0, le=60, description="Seconds from a complete body to SQS's answer, waiting and retries included."
    )
    sqs_max_connections: int = Field(64, ge=1, le=1024, description="Connections to SQS, per process (v08 and later).")
    sqs_batches: int = Field(
        4, ge=1, le=64, description="SendMessageBatch calls in flight (v09); a FIFO queue always has one."
    )
    sqs_batch_bytes: int = Field(
        256 * KIB, ge=1, le=MIB, description="Longest batch (v09). SQS takes 1 MiB, emulators 256 KiB."
    )

    @field_validator("event_types", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        pairs = (
            ("APP_BASIC_AUTH", self.basic_auth_username, self.basic_auth_password),
            ("APP_BASIC_AUTH_PREVIOUS", self.basic_auth_previous_username, self.basic_auth_previous_password),
        )
        for prefix, username, password in pairs:
            if (username is None) != (password is None):
                raise ValueError(f"{prefix}_USERNAME and {prefix}_PASSWORD: allowed are both or neither")
            if username is not None and ":" in username:
                raise ValueError(f"{prefix}_USERNAME: a colon is not allowed in it (RFC 7617)")
        if self.max_buffered_bytes < self.max_body_bytes:
            raise ValueError(
                f"APP_MAX_BUFFERED_BYTES={self.max_buffered_bytes}: allowed is APP_MAX_BODY_BYTES"
                f" ({self.max_body_bytes}) or more, or the longest body would never be admitted"
            )
        if self.local and self.sqs_queue_url is not None:
            raise ValueError(
                f"APP_SQS_QUEUE_URL={self.sqs_queue_url}: not allowed with APP_LOCAL=1, which brings its own queue"
            )
        return self

    def require_queue_url(self) -> str:
        """APP_SQS_QUEUE_URL. Raises ConfigurationError where it is not set."""
        if self.sqs_queue_url is None:
            raise ConfigurationError("APP_SQS_QUEUE_URL is not set: allowed is the URL of a queue (or APP_LOCAL=1)")
        return self.sqs_queue_url

    def require_production(self) -> None:
        """What `web` needs outside local mode. Raises ConfigurationError."""
        self.require_queue_url()
        if self.basic_auth_username is None:
            raise ConfigurationError(
                "APP_BASIC_AUTH_USERNAME is not set: allowed is the user and (APP_BASIC_AUTH_PASSWORD) the password"
                " of Chargebee's webhook settings (or APP_LOCAL=1)"
            )
