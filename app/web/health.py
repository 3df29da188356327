"""Probes. Neither checks a dependency: restarting or unrouting the process does not repair a queue that is down."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.web.problems import ProblemResponse

router = APIRouter(tags=["probes"])


def _probe(path: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """GET and HEAD on `path`; the server omits the body of HEAD.

    The second route never matches: it is there for the OpenAPI document, in which the two methods of one route would
    share an operation id.
    """

    def register(probe: Callable[..., Any]) -> Callable[..., Any]:
        router.add_api_route(path, probe, methods=["GET", "HEAD"], include_in_schema=False, **options)
        router.add_api_route(path, probe, methods=["GET"], **options)
        return probe

    return register


@_probe("/healthz")
async def healthz() -> dict[str, str]:
    """Alive: the event loop is not blocked."""
    return {"status": "alive"}


@_probe("/readyz", response_model=None, responses={503: {"description": "Draining"}})
async def readyz(request: Request) -> dict[str, str] | Response:
    """Started and not draining."""
    if request.app.state.admission.draining:
        return ProblemResponse(503, "This process is stopping")
    return {"status": "ready"}
