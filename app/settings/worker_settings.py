"""The settings of the worker, of commands such as `reconcile`, and of release v01, which bills in the web process."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, field_validator, model_validator
from pydantic_settings import NoDecode

from app.errors import ConfigurationError
from app.settings.process import COMMA_SEPARATED, ProcessSettings, QueueUrl, with_host

ExemptId = Annotated[str, StringConstraints(min_length=1, max_length=50)]


class WorkerSettings(ProcessSettings):
    billing_table: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_.-]{3,255}$",
        description="DynamoDB table with billable events, claims on events, and the API rate limit.",
        json_schema_extra={"allowed": "the name of a table"},
    )
    billing_lease: float = Field(
        60.0,
        ge=1,
        le=900,
        description="Seconds for which a worker's claim reserves an event. The worker renews the claim while it works.",
    )
    billing_exempt: Annotated[frozenset[ExemptId], NoDecode, COMMA_SEPARATED] = Field(
        frozenset(),
        description="Customers and subscriptions whose invoices the worker leaves pending, for review by a person.",
        json_schema_extra={"allowed": "ids of at most 50 characters, separated by commas"},
    )
    chargebee_url: Annotated[str, AfterValidator(with_host)] | None = Field(
        None,
        pattern=r"^https?://[^\s@?#/]+/?$",
        description="URL of Chargebee's API: https://{site}.chargebee.com.",
        json_schema_extra={"allowed": "an http(s) URL without credentials and path"},
    )
    chargebee_api_key: SecretStr | None = Field(
        None,
        description="API key of the Chargebee site, with write access to invoices.",
        json_schema_extra={"allowed": "printable ASCII characters without white space"},
    )
    chargebee_rate: int = Field(
        150,
        ge=1,
        le=1_000_000,
        description="Maximum calls to Chargebee per minute, of all workers together. Plans allow 150, 1,000 or 3,500.",
    )
    chargebee_timeout: float = Field(
        20.0,
        ge=0.1,
        le=60,
        description="Time-out in seconds for one call to Chargebee's API; it must be shorter than APP_BILLING_LEASE.",
    )
    dead_letter_queue_url: QueueUrl | None = Field(
        None,
        description="URL of the dead-letter queue, to which the worker moves messages that can never succeed.",
        json_schema_extra={"allowed": "an http(s) URL without credentials that ends in the queue's name"},
    )
    worker_concurrency: int = Field(
        10, ge=1, le=1000, description="Maximum number of events that a worker processes at the same time."
    )
    worker_visibility: int = Field(
        60,
        ge=3,
        le=43_200,
        description="Visibility timeout in seconds of a message; the worker extends it until the message is done.",
    )

    @field_validator("chargebee_api_key")
    @classmethod
    def _require_plain(cls, key: SecretStr | None) -> SecretStr | None:
        """Raises ValueError if `key` has an invalid character, for example a line break at the end."""
        if key is not None and not re.fullmatch("[!-~]+", key.get_secret_value()):
            raise ValueError("not a key")
        return key

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.chargebee_timeout >= self.billing_lease:
            raise ValueError(
                f"APP_CHARGEBEE_TIMEOUT={self.chargebee_timeout:g}: allowed is less than APP_BILLING_LEASE"
                f" ({self.billing_lease:g}), because otherwise a claim could expire during a call to Chargebee"
            )
        if self.sqs_queue_url is not None and self.dead_letter_queue_url == self.sqs_queue_url:
            raise ValueError(
                f"APP_DEAD_LETTER_QUEUE_URL={self.dead_letter_queue_url}: allowed is another queue than"
                " APP_SQS_QUEUE_URL, because otherwise the worker would receive its dead letters again and again"
            )
        return self

    def require_billing_table(self) -> str:
        """Returns APP_BILLING_TABLE. Raises ConfigurationError if it is not set."""
        if self.billing_table is None:
            raise ConfigurationError("APP_BILLING_TABLE is not set: allowed is the name of a DynamoDB table")
        return self.billing_table

    def require_billing(self) -> None:
        """Raises ConfigurationError if a variable that the billing work needs is not set."""
        needed = {
            "APP_BILLING_TABLE": (self.billing_table, "the name of a DynamoDB table"),
            "APP_CHARGEBEE_URL": (self.chargebee_url, "https://{site}.chargebee.com"),
            "APP_CHARGEBEE_API_KEY": (self.chargebee_api_key, "an API key of that site"),
        }
        missing = [f"{name} is not set: allowed is {what}" for name, (value, what) in needed.items() if value is None]
        if missing:
            raise ConfigurationError("\n".join(missing))

    def require_dead_letter_queue_url(self) -> str:
        """Returns APP_DEAD_LETTER_QUEUE_URL. Raises ConfigurationError if it is not set."""
        if self.dead_letter_queue_url is None:
            raise ConfigurationError(
                "APP_DEAD_LETTER_QUEUE_URL is not set: allowed is the URL of the queue for messages that cannot succeed"
            )
        return self.dead_letter_queue_url
