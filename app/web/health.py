"""The probes. Neither probe checks a dependency, because a restart of the process does not repair a queue."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.web.problems import ProblemResponse
from app.web.service import Service

router = APIRouter(tags=["probes"])

# Each probe has two routes. The one for GET and HEAD answers all requests, and the server omits the body for HEAD. The
# one for GET is never reached. It exists for the OpenAPI document, where two methods of one route would share an
# operation id.
PROBE = ["GET", "HEAD"]


@router.get("/healthz")
@router.api_route("/healthz", methods=PROBE, include_in_schema=False)
async def healthz() -> dict[str, str]:
    """Answers as long as the event loop is not blocked."""
    return {"status": "alive"}


@router.get("/readyz", response_model=None, responses={503: {"description": "Draining"}})
@router.api_route("/readyz", methods=PROBE, response_model=None, include_in_schema=False)
async def readyz(request: Request) -> dict[str, str] | Response:
    """Answers 200 between the start and the drain, and otherwise 503."""
    if Service.of(request).admission.draining:
        return ProblemResponse(503, "This process is stopping")
    return {"status": "ready"}
