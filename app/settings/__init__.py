"""Settings: the only reader of APP_ variables (AWS_* and OTEL_* belong to their SDKs).

Read once, at the start of a process; frozen from then on. A variable that is wrong, unknown or
contradicts another one raises `ConfigurationError`, a line for each: variable, value, what is allowed.
"""

import os
from typing import Any

from pydantic import ValidationError

from app.errors import ConfigurationError
from app.settings.fields import Settings
from app.settings.gate import CREDENTIALS
from app.settings.release import KNOWN_AS, NEWEST, Release
from app.settings.text import complaints, unknown_variables, variable

__all__ = ["KNOWN_AS", "NEWEST", "Release", "Settings", "load_settings"]


def load_settings() -> Settings:
    """Settings from the environment. Raises ConfigurationError, a line for each wrong variable."""
    if unknown := list(unknown_variables(os.environ, Settings)):
        raise ConfigurationError("\n".join(unknown))
    empty: dict[str, Any] = {name: "" for name in CREDENTIALS if os.environ.get(variable(name)) == ""}
    try:
        return Settings(**empty)  # which `env_ignore_empty` would not pass on
    except ValidationError as error:
        raise ConfigurationError("\n".join(complaints(Settings, error))) from None
