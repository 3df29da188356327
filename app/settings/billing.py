"""Settings of the billing work: the table, Chargebee's API and its limits, and the worker."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, SecretStr

from app.errors import ConfigurationError
from app.settings.queue import QueueUrl, with_host


class BillingSettings(BaseModel):
    billing_table: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_.-]{3,255}$",
        description="DynamoDB table of billable events, claims and the rate of API calls (worker, v01).",
        json_schema_extra={"allowed": "the name of a table"},
    )
    billing_lease: float = Field(
        60.0,
        ge=1,
        le=900,
        description="Seconds for which a claim on an event keeps other workers away; renewed while the worker works.",
    )
    chargebee_url: Annotated[str, AfterValidator(with_host)] | None = Field(
        None,
        pattern=r"^https?://[^\s@?#/]+/?$",
        description="Chargebee's API: https://{site}.chargebee.com.",
        json_schema_extra={"allowed": "an http(s) URL without credentials and path"},
    )
    chargebee_api_key: SecretStr | None = Field(
        None, description="API key of the site, with write access to invoices.", json_schema_extra={"allowed": "a key"}
    )
    chargebee_rate: int = Field(
        150,
        ge=1,
        le=1_000_000,
        description="API calls per minute of all workers together: 150, 1,000 or 3,500, by plan.",
    )
    chargebee_timeout: float = Field(
        20.0, gt=0, le=60, description="Time-out in seconds for one API call; shorter than APP_BILLING_LEASE."
    )
    dead_letter_queue_url: QueueUrl | None = Field(
        None,
        description="Queue for messages that can never succeed (worker).",
        json_schema_extra={"allowed": "an http(s) URL without credentials that ends in the queue's name"},
    )
    worker_concurrency: int = Field(10, ge=1, le=1000, description="Events that a worker processes at the same time.")
    worker_visibility: int = Field(
        60,
        ge=3,
        le=43_200,
        description="Visibility timeout in seconds of a received message; extended until the message is done.",
    )

    def require_billing(self) -> None:
        """Raises ConfigurationError unless everything that the billing work needs is set."""
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
