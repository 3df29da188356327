"""The release, and the options that vary it."""

from typing import Literal

from pydantic import BaseModel, Field

from app.settings.release import NEWEST, Release


class HistorySettings(BaseModel):
    release: Release = Field(NEWEST, description="Which release of the history handles the webhooks.")
    threadpool_tokens: int | None = Field(
        None, ge=1, le=1000, description="Threads for blocking work, instead of the release's own (v01 to v07)."
    )
    warm_clients: bool = Field(
        True, description="Build one AWS client at the start; 0 shows the cost of cold clients (v01 to v05)."
    )
    middleware: Literal["none", "asgi", "base_http"] = Field(
        "none", description="A request-id and timing middleware: pure ASGI, or Starlette's BaseHTTPMiddleware."
    )
    response: Literal["json", "orjson", "model"] = Field(
        "model",
        description="How a 200 is serialised (v01 to v09): json.dumps, orjson, or pydantic-core by the return type.",
    )
