"""A handler imports a large library when it is first needed, on the event loop.

After home-assistant/core#114488 (Detect blocking module imports in the event loop).
"""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "builds",
    "route": "GET /reports/{year:int}",
    "cures": ["once"],
    "send": [("GET", "/reports/2024", 3, 1)],
    "source": "https://github.com/home-assistant/core/pull/114488",
}


def table_of(year: int) -> str:
    import polars  # FAULT

    return str(polars.DataFrame({"year": [year], "total": [17.5]}).shape)


async def report(request: Request) -> PlainTextResponse:
    return PlainTextResponse(table_of(request.path_params["year"]))


app = Starlette(routes=[Route("/reports/{year:int}", report)])
