"""A handler checks an uploaded script in another process and waits for it with subprocess.run.

After kubernetes-sigs/agent-sandbox#1375 (/execute blocks the event loop and has no timeout).
"""

import subprocess
import sys

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

CASE = {
    "framework": "starlette",
    "kind": "waits",
    "route": "POST /api/scripts/{name}",
    "cures": ["async client", "thread"],
    "send": [("POST", "/api/scripts/deploy", 3, 1, "print(1)")],
    "source": "https://github.com/kubernetes-sigs/agent-sandbox/issues/1375",
}
CHECKER = "import sys, time; compile(sys.stdin.read(), 'script', 'exec'); time.sleep(0.4)"


def problems_of(script: str) -> list[str]:
    checked = subprocess.run(  # FAULT
        [sys.executable, "-S", "-c", CHECKER], input=script, text=True, capture_output=True, check=False
    )
    return checked.stderr.splitlines()


async def check(request: Request) -> JSONResponse:
    script = await request.json()
    return JSONResponse({"name": request.path_params["name"], "problems": problems_of(script)})


app = Starlette(routes=[Mount("/api", routes=[Route("/scripts/{name}", check, methods=["POST"])])])
