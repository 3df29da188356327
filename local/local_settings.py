"""Defines the settings of a local run: the variables APP_LOCAL_…, which only `python -m local` reads."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.settings.text import read


class LocalSettings(BaseSettings):
    """The settings of a local run. Each field is one variable: the field `sqs_delay` is APP_LOCAL_SQS_DELAY."""

    model_config = SettingsConfigDict(
        env_prefix="APP_LOCAL_", frozen=True, extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

    sqs_delay: float = Field(0.0, ge=0, le=60, description="Seconds of latency added to each call to the embedded AWS.")
    chargebee_delay: float = Field(
        0.0, ge=0, le=60, description="Seconds of latency added to each call to the stand-in for Chargebee's API."
    )
    tls: bool = Field(False, description="1: the embedded AWS uses HTTPS, with a certificate of its own CA.")
    worker: bool = Field(True, description="1: `run` also starts a worker, which closes the invoices.")
    live_port: int = Field(
        8001, ge=0, le=65535, description="Port of the live page; 0 picks a free port (default of `race`)."
    )
    run_dir: Path = Field(
        Path(".run"),
        description="Folder into which a local run writes its addresses (`local.json`).",
        json_schema_extra={"allowed": "a folder"},
    )


def load_local_settings() -> LocalSettings:
    """Reads the environment. Raises ConfigurationError with a line for each invalid variable."""
    return read(LocalSettings, [LocalSettings])
