"""The handler imports polars when it is called first."""

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "builds",
    "route": "GET /frame",
    "cures": ["once"],
    "send": [("GET", "/frame", 2, 1)],
    "source": "",
}


async def frame(request):
    import polars  # FAULT

    return PlainTextResponse(polars.__version__)


app = Starlette(routes=[Route("/frame", frame)])
