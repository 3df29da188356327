"""Settings for the lessons in CHANGELOG.md and for the tips of the talk about v01 to v07.

A deployment needs none of these settings.
"""

import tempfile
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from app.errors import ConfigurationError
from app.settings.text import default, variable


class ExperimentSettings(BaseModel):
    threadpool_tokens: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Maximum threads for blocking work (v01 to v07). Not set: 40, 100 or 200, depending on the release."
        " Lessons v04 and v07.",
    )
    warm_clients: bool = Field(
        True,
        description="1: build one AWS client at start-up, so that botocore reads its data files before the first"
        " request. 0: botocore reads them during the first requests (v01 to v05). Lesson v04.",
    )
    sqs_max_connections: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Maximum connections in the pool of the SQS client. Not set: botocore's 10 (v02 to v07) or 64"
        " (v08, v09). Later releases open a connection for each call in flight. Lessons v06 and v08.",
    )
    gc: Literal["tuned", "default"] | None = Field(
        None,
        description="How often Python collects garbage. tuned: rarely; default: at Python's own thresholds. Not set:"
        " default for v01 to v07, tuned for later releases. Lesson v08.",
    )
    accept: Literal["all", "one"] | None = Field(
        None,
        description="Waiting connections that the server accepts per iteration of the event loop: all, or one. Not set:"
        " all for v08 and later; for v01 to v07, one with uvloop and all with asyncio. Lessons v06 and v08.",
    )
    loop: Literal["uvloop", "asyncio"] = Field("uvloop", description="Event loop. The talk's tip: uvloop.")
    http: Literal["httptools", "h11"] = Field(
        "httptools", description="HTTP parser (v01 to v10). The talk's tip: httptools."
    )
    middleware: Literal["none", "asgi", "base_http"] = Field(
        "none",
        description="Adds a middleware for request ids and timing, written as pure ASGI or with Starlette's"
        " BaseHTTPMiddleware (v01 to v10). The talk's tip: pure ASGI.",
    )
    request_overhead_ms: float = Field(
        0,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="CPU time in ms that a BaseHTTPMiddleware spends on each request, besides its own (v01 to v10)."
        " Used for the published figures of the lessons v02 to v07 (`python -m loadtest calibrated`).",
    )
    profile: Path | None = Field(
        None,
        description="Folder to which pyinstrument writes profiles, each of one webhook. Used for the profiles"
        " of all lessons.",
        json_schema_extra={"allowed": "a folder that can be written to"},
    )
    timeline: Path | None = Field(
        None,
        description="File for a timeline of event loop, threads and webhooks, which the process writes when it ends"
        " (`python -m local compare`). Used for the pictures of all lessons.",
        json_schema_extra={"allowed": "a file that can be written"},
    )

    def require_no_asgi(self) -> None:
        """Raises ConfigurationError if an option has been chosen that has no effect on a release without ASGI."""
        for name in ("http", "middleware", "request_overhead_ms"):
            chosen, usual = getattr(self, name), type(self).model_fields[name].default
            if chosen != usual:
                raise ConfigurationError(
                    f"{variable(name)}={default(chosen)}: has no effect on a release without ASGI (v11); allowed is"
                    f" {default(usual)}, or APP_RELEASE=v10"
                )

    def require_writable(self) -> None:
        """Creates APP_PROFILE's folder and APP_TIMELINE's file. Raises ConfigurationError if they are not writable."""
        try:
            if self.profile is not None:
                self.profile.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=self.profile).close()
            if self.timeline is not None:
                self.timeline.touch()
        except OSError as error:
            raise ConfigurationError(
                f"{error.filename}: {error.strerror}: APP_PROFILE must be a folder, and APP_TIMELINE a file,"
                " to which the process can write"
            ) from None
