"""The server: its release, address, connections, graceful shutdown, logging and metrics."""

from typing import Literal

from pydantic import BaseModel, Field

from app.settings.release import NEWEST, Release


class ServerSettings(BaseModel):
    release: Release = Field(NEWEST, description="Which release of the history handles the webhooks.")
    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 in a container.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    max_connections: int = Field(
        8192, ge=0, description="Open connections; past it, the one idle longest is closed. 0: no limit."
    )
    head_timeout: float = Field(
        10.0, gt=0, le=300, description="Time-out in seconds for the complete head of a request."
    )
    keep_alive_timeout: int = Field(
        65, ge=1, le=3600, description="Seconds until an idle connection is closed; longer than the load balancer's."
    )
    drain_delay: float = Field(
        5.0, ge=0, le=300, description="Seconds between SIGTERM and closing the listener (readyz 503, webhooks 503)."
    )
    graceful_timeout: int = Field(
        30, ge=1, le=600, description="Seconds that requests in flight may take after the listener is closed."
    )
    docs: bool = Field(False, description="Serve /docs and /openapi.json with local assets (fastapi-offline).")
    block_warn: float | None = Field(
        None,
        ge=0.01,
        le=60,
        description="Seconds; a line of code that holds the event loop for longer is logged, once, and counted."
        " Not set: no watchdog.",
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Lowest severity that is logged."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="JSON lines or text; auto: text on a terminal."
    )
    metrics_host: str = Field("127.0.0.1", description="Address of Prometheus' /metrics; 0.0.0.0 in a container.")
    metrics_port: int | None = Field(
        None, ge=0, le=65535, description="Port of Prometheus' /metrics, which has a thread of its own; 0: a free one."
    )
