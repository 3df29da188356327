"""Settings of the server: release, address, connections, graceful shutdown, logs and metrics."""

from typing import Literal

from pydantic import BaseModel, Field

from app.settings.release import NEWEST, Release


class ServerSettings(BaseModel):
    release: Release = Field(NEWEST, description="Release of the history that handles the webhooks.")
    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 in a container.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    max_connections: int = Field(
        8192, ge=0, description="Maximum open connections; above it, the one idle longest is closed. 0: no limit."
    )
    head_timeout: float = Field(
        10.0, gt=0, le=300, description="Time-out in seconds for the complete head of a request."
    )
    keep_alive_timeout: int = Field(
        65, ge=1, le=3600, description="Seconds until an idle connection is closed; longer than the load balancer's."
    )
    drain_delay: float = Field(
        5.0, ge=0, le=300, description="Seconds from SIGTERM until the listener closes; readyz and webhooks get 503."
    )
    graceful_timeout: int = Field(
        30, ge=1, le=600, description="Seconds that requests in flight may take after the listener is closed."
    )
    docs: bool = Field(False, description="Serve /docs and /openapi.json with local assets (fastapi-offline).")
    block_warn: float | None = Field(
        None,
        ge=0.01,
        le=60,
        description="Seconds; a line of code that blocks the event loop for longer is logged once, and each time"
        " counted. Not set: no watchdog.",
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Lowest severity that is logged."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="JSON lines or text; auto: text on a terminal."
    )
    metrics_host: str = Field("127.0.0.1", description="Address of Prometheus' /metrics; 0.0.0.0 in a container.")
    metrics_port: int | None = Field(
        None, ge=0, le=65535, description="Port of Prometheus' /metrics, served by its own thread; 0 picks a free one."
    )
