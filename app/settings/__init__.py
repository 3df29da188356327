"""Reads the settings from the APP_ variables of the environment. Only this package reads them.

A process reads its settings once, at start-up, and cannot change them later. Wrong, unknown and contradictory variables
raise `ConfigurationError`. The error has a line for each wrong variable: its name, its value and the allowed values.
The SDKs read the AWS_* and OTEL_* variables themselves.
"""

import os
from typing import Any, Self

from pydantic import ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import ConfigurationError
from app.settings.billing import BillingSettings
from app.settings.experiments import ExperimentSettings
from app.settings.gate import CREDENTIALS, GateSettings
from app.settings.queue import QueueSettings
from app.settings.release import NEWEST, Release
from app.settings.server import ServerSettings
from app.settings.text import error_lines, unknown_variables, variable

__all__ = ["NEWEST", "Release", "Settings", "load_settings"]


# pydantic collects the fields of the base classes from right to left, so docs/settings.md begins with ServerSettings.
class Settings(ExperimentSettings, QueueSettings, BillingSettings, GateSettings, ServerSettings, BaseSettings):
    """The settings, with one field per variable: `max_body_bytes` is APP_MAX_BODY_BYTES.

    The tables of docs/settings.md are generated from this class. The class raises pydantic's ValidationError if a value
    is wrong, or if two values contradict each other.
    """

    # Without hide_input_in_errors, pydantic's messages would contain the values, including secrets.
    model_config = SettingsConfigDict(
        env_prefix="APP_", frozen=True, extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

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
                raise ValueError(f"{prefix}_USERNAME: a colon is not allowed in a user name (RFC 7617)")
        if self.max_buffered_bytes < self.max_body_bytes:
            raise ValueError(
                f"APP_MAX_BUFFERED_BYTES={self.max_buffered_bytes}: allowed is APP_MAX_BODY_BYTES"
                f" ({self.max_body_bytes}) or more, because the longest body must fit into this memory"
            )
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

    def require_web(self) -> None:
        """Raises ConfigurationError if a variable that the web process needs is not set."""
        if self.release.enqueues:
            self.require_queue_url()
        else:
            self.require_billing()
        if self.basic_auth_username is None:
            raise ConfigurationError(
                "APP_BASIC_AUTH_USERNAME is not set: allowed is the user name of Chargebee's webhook settings;"
                " APP_BASIC_AUTH_PASSWORD has to be set as well"
            )


def load_settings() -> Settings:
    """Returns the settings of the environment. Raises ConfigurationError, with a line for each wrong variable.

    Wrong values are reported only if no variable is unknown, and a contradiction only if no value is wrong.
    """
    if unknown := list(unknown_variables(os.environ, Settings)):
        raise ConfigurationError("\n".join(unknown))
    empty: dict[str, Any] = {name: "" for name in CREDENTIALS if os.environ.get(variable(name)) == ""}
    try:
        return Settings(**empty)  # explicit, because `env_ignore_empty` ignores empty variables
    except ValidationError as error:
        raise ConfigurationError("\n".join(error_lines(Settings, error))) from None
