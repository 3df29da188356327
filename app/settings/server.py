"""Settings of the server: release, address, connections, graceful shutdown, logs and metrics."""

from typing import Literal

from pydantic import BaseModel, Field

from app.settings.release import NEWEST, Release


class ServerSettings(BaseModel):
    release: Release = Field(NEWEST, description="Release in CHANGELOG.md whose code handles the webhooks.")
    host: str = Field("127.0.0.1", description="Address on which the service listens. In a container, set 0.0.0.0.")
    port: int = Field(8000, ge=0, le=65535, description="Port on which the service listens; 0 picks a free port.")
    max_connections: int = Field(
        8192,
        ge=0,
        description="Maximum open connections (from v11 on); above it, the service closes the connection that has been"
        " idle longest. 0: no limit.",
    )
    head_timeout: float = Field(
        10.0, gt=0, le=300, description="Maximum seconds until a request's complete head has arrived (from v11 on)."
    )
    keep_alive_timeout: int = Field(
        65,
        ge=1,
        le=3600,
        description="Seconds until the service closes an idle connection; it must be longer than the load balancer's"
        " idle time-out.",
    )
    drain_delay: float = Field(
        5.0,
        ge=0,
        le=300,
        description="Seconds from SIGTERM until the listener closes. Meanwhile, the service answers 503 to readyz and"
        " webhooks.",
    )
    graceful_timeout: int = Field(
        30,
        ge=1,
        le=600,
        description="Maximum seconds that the service waits for requests in flight after it has closed the listener.",
    )
    docs: bool = Field(False, description="1: serve /docs and /openapi.json with local assets (fastapi-offline).")
    block_warn: float | None = Field(
        None,
        ge=0.01,
        le=60,
        description="Seconds for which a line of code may block the event loop. The watchdog counts each longer block,"
        " and logs each blocking line once. Not set: no watchdog.",
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Lowest severity that the service logs."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="Format of the log: JSON lines or text. auto: text on a terminal, else JSON."
    )
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port on APP_HOST on which a separate thread serves /metrics for Prometheus; 0 picks a free port."
        " Not set: no /metrics.",
    )
