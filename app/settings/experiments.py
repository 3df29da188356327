"""Settings for the lessons of CHANGELOG.md and for the talk's tips. A deployment needs none of them."""

import tempfile
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from app.errors import ConfigurationError


class ExperimentSettings(BaseModel):
    threadpool_tokens: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Threads for blocking work, instead of the release's own number (v01 to v07). Lessons v04 and v07.",
    )
    warm_clients: bool = Field(
        True,
        description="Build one AWS client at the start; 0 shows the cost of cold clients (v01 to v05). Lesson v04.",
    )
    sqs_max_connections: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Size of the pool of connections to SQS. Default: botocore's 10 (v02 to v07), 64 (v08, v09). v10"
        " has a connection for each call in flight. Lessons v06 and v08.",
    )
    gc: Literal["tuned", "default"] | None = Field(
        None,
        description="Garbage collection. tuned: rare, as from v08 on; default: Python's thresholds, as in v01 to v07."
        " Lesson v09.",
    )
    accept: Literal["all", "one"] | None = Field(
        None,
        description="Connections accepted per iteration of the event loop: all that wait (default of v08 and later), or"
        " one. v01 to v07 accept as their loop does: uvloop one, asyncio all. Lesson v06.",
    )
    loop: Literal["uvloop", "asyncio"] = Field("uvloop", description="Event loop. The talk's tip: uvloop.")
    http: Literal["httptools", "h11"] = Field("httptools", description="HTTP parser. The talk's tip: httptools.")
    backlog: int = Field(
        2048,
        ge=1,
        le=65535,
        description="Connections that the kernel queues until they are accepted. The talk's tip: --backlog.",
    )
    limit_concurrency: int | None = Field(
        None,
        ge=1,
        description="uvicorn's own limit; above it, 503 as text/plain, for probes too. The talk's tip:"
        " --limit-concurrency.",
    )
    access_log: bool = Field(
        False,
        description="Log uvicorn's line for each request, besides the service's line for each webhook."
        " The talk's tip: --no-access-log.",
    )
    middleware: Literal["none", "asgi", "base_http"] = Field(
        "none",
        description="A middleware for request ids and timing, written both ways. The talk's tip: pure ASGI instead of"
        " Starlette's BaseHTTPMiddleware.",
    )
    response: Literal["json", "orjson", "model"] = Field(
        "model",
        description="How a 200 is serialised (v01 to v09): json.dumps, orjson, or pydantic-core by the return type."
        " The talk's tip: ORJSONResponse.",
    )
    metrics_fine: bool = Field(
        False,
        description="Histograms with many buckets, for the medians of the live page, which `make run` starts. Used for"
        " the pictures of the lessons v02, v04 and v09.",
    )
    profile: Path | None = Field(
        None,
        description="Folder for profiles of webhooks by pyinstrument, one webhook at a time. Used for the flame graphs"
        " of the lessons v02 to v10.",
        json_schema_extra={"allowed": "a folder that can be written to"},
    )
    timeline: Path | None = Field(
        None,
        description="File for a timeline of event loop, threads and webhooks, written when the process ends"
        " (`python -m local compare`). Used for the pictures of all lessons.",
        json_schema_extra={"allowed": "a file that can be written"},
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
                f"{error.filename}: {error.strerror}: APP_PROFILE must be a folder that can be written to, APP_TIMELINE"
                " a file"
            ) from None
