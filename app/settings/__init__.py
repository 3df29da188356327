"""Reads the settings from the APP_ variables of the environment. Only this package reads them.

A process reads its settings once, at start-up, and cannot change them later. Wrong, unknown and contradictory variables
raise `ConfigurationError`. The error has a line for each wrong variable: its name, its value and the allowed values.
The SDKs of AWS and OpenTelemetry read the AWS_* and OTEL_* variables themselves.
"""

import os
from typing import Any

from app.settings.process import ProcessSettings
from app.settings.release_names import NEWEST, Release
from app.settings.text import read, variable
from app.settings.web_settings import CREDENTIALS, WebSettings
from app.settings.worker_settings import WorkerSettings

__all__ = [
    "ALL",
    "NEWEST",
    "ProcessSettings",
    "Release",
    "WebSettings",
    "WorkerSettings",
    "load_settings",
    "load_worker_settings",
]

ALL = (WebSettings, WorkerSettings)  # an APP_ variable that is in neither class is unknown


def load_settings() -> WebSettings:
    """Returns the settings of the web process. Raises ConfigurationError, with a line for each wrong variable."""
    empty: dict[str, Any] = {name: "" for name in CREDENTIALS if os.environ.get(variable(name)) == ""}
    return read(WebSettings, ALL, **empty)  # pydantic does not read empty variables (`env_ignore_empty`)


def load_worker_settings() -> WorkerSettings:
    """Returns the settings of the worker, its commands and v01. Raises ConfigurationError like `load_settings`."""
    return read(WorkerSettings, ALL)
