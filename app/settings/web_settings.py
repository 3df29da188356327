"""The settings of the web process."""

import re
from typing import Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic.config import JsonDict

from app.errors import ConfigurationError
from app.settings.process import ProcessSettings
from app.settings.release_names import NEWEST, Release

KIB, MIB = 1024, 1024 * 1024
BODY_BYTES = 245_760

# An empty variable usually counts as not set. An empty credential is an error, because its value may be missing in a
# Kubernetes Secret.
CREDENTIALS = (
    "basic_auth_username",
    "basic_auth_password",
    "basic_auth_previous_username",
    "basic_auth_previous_password",
)
# RFC 7617 forbids control characters, such as a line break at the end of a Secret. In `os.environ`, a surrogate stands
# for a byte that is not UTF-8.
_UNSENDABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_PASSWORD: JsonDict = {"allowed": "UTF-8 text without control characters, not blank"}
_USERNAME: JsonDict = {"allowed": "UTF-8 text without colon and control characters, not blank"}


class WebSettings(ProcessSettings):
    release: Release = Field(NEWEST, description="Release in CHANGELOG.md whose code handles the webhooks.")
    max_connections: int = Field(
        8192,
        ge=0,
        description="Maximum open connections (from 1.4.0 on); above it, the service closes the one that has been"
        " idle longest. 0: no limit.",
    )
    head_timeout: float = Field(
        10.0, gt=0, le=300, description="Maximum seconds until a request's complete head has arrived (from 1.4.0 on)."
    )
    keep_alive_timeout: int = Field(
        65,
        ge=1,
        le=3600,
        description="Seconds until the service closes an idle connection; it must be longer than the load balancer's"
        " idle time-out.",
    )
    drain_delay: float = Field(
        5.0,
        ge=0,
        le=300,
        description="Seconds from SIGTERM until the listener closes. Meanwhile, the service answers 503 to readyz and"
        " webhooks.",
    )
    docs: bool = Field(False, description="1: serve /docs and /openapi.json with local assets (fastapi-offline).")
    basic_auth_username: str | None = Field(
        None, description="User name that Chargebee sends with each webhook.", json_schema_extra=_USERNAME
    )
    basic_auth_password: SecretStr | None = Field(
        None, description="Password that Chargebee sends with each webhook.", json_schema_extra=_PASSWORD
    )
    basic_auth_previous_username: str | None = Field(
        None,
        description="Previous user name, which the service also accepts during a rotation.",
        json_schema_extra=_USERNAME,
    )
    basic_auth_previous_password: SecretStr | None = Field(
        None,
        description="Previous password, which the service also accepts during a rotation.",
        json_schema_extra=_PASSWORD,
    )
    max_body_bytes: int = Field(
        BODY_BYTES,
        ge=1,
        le=MIB - 4 * KIB,
        description="Maximum bytes of a webhook's body. SQS accepts 1 MiB with attributes; emulators accept 256 KiB."
        " With more than the default, batches (from v09 on) are longer as well, up to 1 MiB.",
    )
    body_timeout: float = Field(
        10.0, gt=0, le=300, description="Maximum seconds until the complete body of a webhook has arrived."
    )
    max_wait: float = Field(
        5.0,
        ge=0,
        le=300,
        description="Maximum expected wait for a response in seconds; while it is longer, the service answers"
        " 503 to new webhooks. 0: no limit (`make run` sets 0 for v01 to v07).",
    )
    max_in_flight: int = Field(
        4096, ge=1, description="Maximum webhooks in flight in a process. The process answers 503 to further webhooks."
    )
    max_buffered_bytes: int = Field(
        24 * MIB,
        ge=1,
        description="Maximum bytes of bodies in a process. The process answers 503 to further webhooks. A webhook in"
        " flight takes up to 16 times as much memory as its body, because it is parsed.",
    )
    sqs_batches: int = Field(
        4,
        ge=1,
        le=64,
        description="Maximum SendMessageBatch calls in flight (from v09 on). Up to 16 may be in flight if the further"
        " ones begin with a full batch. On a FIFO queue, there is always one.",
    )
    threadpool_tokens: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Maximum threads for blocking work (v01 to v07). Not set: the release's TOKENS.",
    )
    sqs_max_connections: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Maximum connections in the pool of the SQS client (v02 to v09). Not set: CONNECTIONS of the"
        " release. Later releases open a connection for each call in flight.",
    )

    @field_validator(*CREDENTIALS)
    @classmethod
    def _not_blank(cls, value: str | SecretStr | None) -> str | SecretStr | None:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if text is not None and (not text.strip() or _UNSENDABLE.search(text)):
            raise ValueError("blank, or with a character that no client can send")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for prefix, username, password in self.credentials:
            if (username is None) != (password is None):
                raise ValueError(f"{prefix}_USERNAME and {prefix}_PASSWORD: allowed are both or neither")
            if username is not None and ":" in username:
                raise ValueError(f"{prefix}_USERNAME: a colon is not allowed in a user name (RFC 7617)")
        if self.max_buffered_bytes < self.max_body_bytes:
            raise ValueError(
                f"APP_MAX_BUFFERED_BYTES={self.max_buffered_bytes}: allowed is APP_MAX_BODY_BYTES"
                f" ({self.max_body_bytes}) or more, because the longest body must fit into this memory"
            )
        return self

    @property
    def credentials(self) -> list[tuple[str, str | None, SecretStr | None]]:
        """The current and the previous credentials, each as (prefix of the two variables, user name, password)."""
        return [
            ("APP_BASIC_AUTH", self.basic_auth_username, self.basic_auth_password),
            ("APP_BASIC_AUTH_PREVIOUS", self.basic_auth_previous_username, self.basic_auth_previous_password),
        ]

    def require_web(self) -> None:
        """Raises ConfigurationError if a variable that the web process needs is not set."""
        if self.release.enqueues:
            self.require_queue_url()
        if self.basic_auth_username is None:
            raise ConfigurationError(
                "APP_BASIC_AUTH_USERNAME is not set: allowed is the user name of Chargebee's webhook settings;"
                " APP_BASIC_AUTH_PASSWORD has to be set as well"
            )
