"""Where the process listens, how long connections last, how it stops, what it logs."""

from typing import Literal

from pydantic import BaseModel, Field


class ProcessSettings(BaseModel):
    host: str = Field("127.0.0.1", description="Address to listen on; a container wants 0.0.0.0.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    loop: Literal["uvloop", "asyncio"] = Field("uvloop", description="Event loop.")
    gc: Literal["tuned", "default"] | None = Field(
        None, description="Python's garbage collector: rare passes (v08 and later), or as Python has it (v02 to v07)."
    )
    http: Literal["httptools", "h11"] = Field("httptools", description="HTTP parser.")
    backlog: int = Field(2048, ge=1, le=65535, description="Connections the kernel keeps waiting for accept.")
    accept: Literal["all", "one"] = Field(
        "all", description="Connections taken in when some wait: all, or one in each turn of the loop, as uvloop does."
    )
    max_connections: int = Field(
        8192, ge=0, description="Connections open at once; past it, the longest idle one is closed. 0: no bound."
    )
    head_timeout: float = Field(
        10.0, gt=0, le=300, description="Seconds within which the head of a request must be complete."
    )
    limit_concurrency: int | None = Field(
        None, ge=1, description="uvicorn's own bound: past it, 503 as text/plain, probes included."
    )
    keep_alive_timeout: int = Field(
        65, ge=1, le=3600, description="Seconds an idle connection lives; keep it above the load balancer's."
    )
    access_log: bool = Field(False, description="uvicorn's line for each request, besides ours for each webhook.")
    drain_delay: float = Field(
        5.0, ge=0, le=300, description="Seconds between SIGTERM and closing the listener (readyz 503, webhooks 503)."
    )
    graceful_timeout: int = Field(
        30, ge=1, le=600, description="Seconds that requests in flight may take once the listener is closed."
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least severe line to log.")
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="JSON lines or text; auto: text on a terminal."
    )
