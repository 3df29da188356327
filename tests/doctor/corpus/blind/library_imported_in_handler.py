"""A handler imports a large library when it is first needed, on the event loop.

After home-assistant/core#114488 (Detect blocking module imports in the event loop).
"""

import sys
import tempfile
from pathlib import Path

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


def install() -> None:
    """Installs a library whose import takes 0.4 s of CPU on any processor. A real one is fast once its files are read."""
    package = Path(tempfile.mkdtemp()) / "site-packages" / "ledgers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import time\n"
        "began, tables = time.thread_time(), {}\n"
        "while time.thread_time() < began + 0.4:\n"
        "    tables[len(tables)] = sorted(str(number) for number in range(1000))\n"
    )
    sys.path.append(str(package.parent))


install()


def table_of(year: int) -> str:
    import ledgers  # FAULT

    return f"{year}: {len(ledgers.tables)} tables"


async def report(request: Request) -> PlainTextResponse:
    return PlainTextResponse(table_of(request.path_params["year"]))


app = Starlette(routes=[Route("/reports/{year:int}", report)])
