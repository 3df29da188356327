"""What people switch on while they look at the service: profiles, /docs, a queue of its own."""

from pathlib import Path

from pydantic import BaseModel, Field


class LaptopSettings(BaseModel):
    profile: bool = Field(
        False, description="Profile webhooks with pyinstrument, one at a time, into `profiles` of APP_RUN_DIR."
    )
    docs: bool = Field(
        False, description="Serve /docs and /openapi.json, with the files of fastapi-offline; local mode turns it on."
    )
    local: bool = Field(False, description="Bring an embedded AWS along (a laptop, a demo); nothing real is touched.")
    local_sqs_delay: float = Field(
        0.0, ge=0, le=60, description="Seconds that the embedded SQS lets every call wait, to show what waiting costs."
    )
    run_dir: Path = Field(
        Path(".run"),
        description="Where a local run leaves its address (`local.json`).",
        json_schema_extra={"allowed": "a folder"},
    )
