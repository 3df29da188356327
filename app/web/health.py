"""Probes. Neither asks a dependency: a queue that is down is no reason to restart or to unplug the process."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.web.problems import ProblemResponse

router = APIRouter(tags=["probes"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Alive: the event loop turns."""
    return {"status": "alive"}


@router.get("/readyz", response_model=None, responses={503: {"description": "Draining"}})
async def readyz(request: Request) -> dict[str, str] | Response:
    """Started and not draining."""
    if request.app.state.admission.draining:
        return ProblemResponse(503, "This process is stopping")
    return {"status": "ready"}
