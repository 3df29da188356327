"""Serves the probes.

The probes do not check other services, such as SQS, because Kubernetes restarts a process that fails its probe, and
a restart of this process would not repair SQS.
"""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.web.problems import ProblemResponse
from app.web.service import Service

router = APIRouter(tags=["probes"])

# Each probe has two routes. The route for GET and HEAD serves all requests, and uvicorn omits the body for HEAD. The
# route for GET serves no requests and exists for the OpenAPI document only: a documented route with two methods would
# give GET and HEAD the same operation id.
PROBE = ["GET", "HEAD"]


@router.get("/healthz")
@router.api_route("/healthz", methods=PROBE, include_in_schema=False)
async def healthz() -> dict[str, str]:
    """Answers 200 as long as the event loop is not blocked."""
    return {"status": "alive"}


@router.get("/readyz", response_model=None, responses={503: {"description": "The process is stopping"}})
@router.api_route("/readyz", methods=PROBE, response_model=None, include_in_schema=False)
async def readyz(request: Request) -> dict[str, str] | Response:
    """Answers 200 until the process begins to stop, and then 503."""
    if Service.of(request.app).admission.draining:
        return ProblemResponse(503, "This process is stopping")
    return {"status": "ready"}
