"""Settings of the lab, which runs in a process of its own: the variables APP_LAB_…"""

import re
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.settings.text import read

# This pattern rejects URLs whose password contains @, /, ? or #. libpq would take a part of such a password for the
# host, and repeat this part in its error messages.
_POSTGRES = re.compile(r"postgres(ql)?://([^@/?#]*@)?[^@/?#]*([/?][^@#]*)?")


class LabSettings(BaseSettings):
    """One field per variable: `pool_size` is APP_LAB_POOL_SIZE."""

    model_config = SettingsConfigDict(
        env_prefix="APP_LAB_", frozen=True, extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8002, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    workers: int = Field(1, ge=1, le=64, description="Processes that uvicorn starts.")
    threadpool_tokens: int = Field(
        40, ge=1, le=1000, description="Threads of anyio's limiter, which run `def` endpoints; 40 is anyio's default."
    )
    loop: Literal["uvloop", "asyncio"] = Field("uvloop", description="Event loop.")
    http: Literal["httptools", "h11"] = Field("httptools", description="HTTP parser.")
    backlog: int = Field(
        2048, ge=1, le=65535, description="Connections that the kernel queues until they are accepted."
    )
    limit_concurrency: int | None = Field(None, ge=1, description="uvicorn's limit: past it, 503 as text/plain.")
    access_log: bool = Field(False, description="uvicorn's access log, which its `--no-access-log` switches off.")
    middleware: Literal["none", "asgi", "base_http"] = Field(
        "none", description="A middleware that adds a header: none, pure ASGI, or Starlette's BaseHTTPMiddleware."
    )
    request_overhead_ms: float = Field(
        0, ge=0, le=1000, description="CPU time that a BaseHTTPMiddleware spends on each request, in ms."
    )
    observe: Literal[
        "nothing", "stdlib", "queue", "loguru", "structlog", "ours", "prometheus", "otel", "otel_sampled", "telemetry"
    ] = Field("nothing", description="How `lab.questions.observing` records each request.")
    upstream_url: str | None = Field(
        None,
        pattern="^https?://",
        description="The slow upstream of `outbound` and `do_nothing`; `python -m lab` starts one if not set.",
        json_schema_extra={"allowed": "an http or https URL"},
    )
    upstream_timeout: float = Field(30.0, gt=0, le=300, description="Time-out in seconds for a call of the upstream.")
    database_url: SecretStr | None = Field(
        None,
        description="Postgres, as libpq's URL; `python -m lab --postgres` starts one. Unset: its endpoints answer 503.",
        json_schema_extra={"allowed": "a postgresql URL (@, /, ? and # of its password as %40, %2F, %3F and %23)"},
    )
    pool_size: int = Field(10, ge=1, le=200, description="Connections of each worker's pool to Postgres.")
    pool_timeout: float = Field(
        5.0, gt=0, le=300, description="Seconds that a request waits for a pool, of connections or of processes."
    )
    processes: int = Field(2, ge=1, le=64, description="Processes of each worker's pool for fibonacci.")

    @field_validator("database_url")
    @classmethod
    def _postgres(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not _POSTGRES.fullmatch(url.get_secret_value()):
            raise ValueError("not a postgresql URL")
        return url


def load_lab_settings() -> LabSettings:
    """Reads the environment. Raises ConfigurationError with one line for each wrong variable."""
    return read(LabSettings, [LabSettings])
