"""The handler imports a large library when it is called first."""

import sys
import tempfile
from pathlib import Path

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


def install():
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


async def frame(request):
    import ledgers  # FAULT

    return PlainTextResponse(str(len(ledgers.tables)))


app = Starlette(routes=[Route("/frame", frame)])
