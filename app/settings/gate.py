"""Settings that decide which webhooks the service accepts: credentials, limits, and the event types to enqueue."""

import re
from typing import Annotated, Any

from pydantic import BaseModel, Field, SecretStr, StringConstraints, field_validator
from pydantic.config import JsonDict
from pydantic_settings import NoDecode

KIB, MIB = 1024, 1024 * 1024
BODY_BYTES = 245_760

# An empty variable counts as not set. But an empty credential is an error: its Kubernetes Secret may lack the value.
CREDENTIALS = (
    "basic_auth_username",
    "basic_auth_password",
    "basic_auth_previous_username",
    "basic_auth_previous_password",
)
# RFC 7617 forbids control characters, such as a line break at the end of a Secret. A surrogate stands for a byte that
# is not UTF-8.
_UNSENDABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_PASSWORD: JsonDict = {"allowed": "any UTF-8 text without control characters, neither empty nor only spaces"}
_USERNAME: JsonDict = {
    "allowed": "any UTF-8 text without a colon and control characters, neither empty nor only spaces"
}


class GateSettings(BaseModel):
    basic_auth_username: str | None = Field(
        None, description="User name that Chargebee sends with each webhook.", json_schema_extra=_USERNAME
    )
    basic_auth_password: SecretStr | None = Field(
        None, description="Password that Chargebee sends with each webhook.", json_schema_extra=_PASSWORD
    )
    basic_auth_previous_username: str | None = Field(
        None,
        description="User name of the previous credentials, which the service also accepts during a rotation.",
        json_schema_extra=_USERNAME,
    )
    basic_auth_previous_password: SecretStr | None = Field(
        None,
        description="Password of the previous credentials, which the service also accepts during a rotation.",
        json_schema_extra=_PASSWORD,
    )

    event_types: Annotated[
        frozenset[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,100}$")]], NoDecode, Field(min_length=1)
    ] = Field(
        frozenset({"pending_invoice_created"}),
        description="Event types to enqueue. The service answers 200 to other events and ignores them. The worker bills"
        " pending_invoice_created only.",
        json_schema_extra={"allowed": "names of a–z, 0–9 and _, separated by commas"},
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
        description=(
            "Maximum expected wait for a response in seconds; while the expected wait is longer, the service answers"
            " 503 to new webhooks. 0: no limit (`make run` sets 0 for v01 to v07)."
        ),
    )
    max_in_flight: int = Field(
        4096, ge=1, description="Maximum webhooks in flight in a process. The process answers 503 to further webhooks."
    )
    max_buffered_bytes: int = Field(
        24 * MIB,
        ge=1,
        description=(
            "Maximum bytes of bodies in a process. The process answers 503 to further webhooks. A webhook in flight"
            " takes up to 16 times as much memory as its body, because it is parsed."
        ),
    )

    @field_validator(*CREDENTIALS)
    @classmethod
    def _not_blank(cls, value: str | SecretStr | None) -> str | SecretStr | None:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if text is not None and (not text.strip() or _UNSENDABLE.search(text)):
            raise ValueError("blank, or with a character that no client can send")
        return value

    @field_validator("event_types", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value
