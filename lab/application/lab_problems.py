"""Answers with 503, as `application/problem+json` (RFC 9457), if an experiment cannot run now."""

from starlette.requests import Request
from starlette.responses import JSONResponse

RETRY_SECONDS = "1"


class LabUnavailable(Exception):
    """An experiment of the lab cannot run now. `str(error)` says why, and in most cases what to do."""


async def unavailable(request: Request, error: Exception) -> JSONResponse:
    """Answers 503 with the error's text."""
    content = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": str(error)}
    headers = {"Retry-After": RETRY_SECONDS, "Content-Type": "application/problem+json"}
    return JSONResponse(content, 503, headers)
