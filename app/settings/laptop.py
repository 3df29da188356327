"""Options for development: profiles, /docs, local mode."""

from pathlib import Path

from pydantic import BaseModel, Field


class LaptopSettings(BaseModel):
    profile: bool = Field(
        False, description="Profile webhooks with pyinstrument, one at a time, into `profiles` in APP_RUN_DIR."
    )
    timeline: Path | None = Field(
        None,
        description="File for a timeline of event loop, threads and webhooks, written at the end (`app compare`).",
        json_schema_extra={"allowed": "a file"},
    )
    docs: bool = Field(
        False, description="Serve /docs and /openapi.json with local assets (fastapi-offline); on in local mode."
    )
    local: bool = Field(
        False,
        description="Start an embedded AWS and a stand-in for Chargebee (laptop, demo); no real service is called.",
    )
    local_sqs_delay: float = Field(
        0.0, ge=0, le=60, description="Seconds of latency added to each call of the embedded SQS."
    )
    local_worker: bool = Field(
        False, description="Start a worker too, in local mode, so that invoices are closed; `make run` sets it."
    )
    local_chargebee_delay: float = Field(
        0.0, ge=0, le=60, description="Seconds that each call of Chargebee's stand-in takes."
    )
    local_tls: bool = Field(False, description="The embedded AWS speaks HTTPS, as AWS does, with a CA of its own.")
    live_port: int | None = Field(
        None, ge=0, le=65535, description="Port of the live page, in local mode; 0 picks a free one. Unset: no page."
    )
    run_dir: Path = Field(
        Path(".run"),
        description="Folder where a local run writes its address (`local.json`).",
        json_schema_extra={"allowed": "a folder"},
    )
