"""The lifespan runs the migrations as a command, and waits for its end on the event loop.

After evroon/bracket#455 (migrations are run when the application starts).
"""

import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "startup",
    "route": "",
    "cures": ["before serving", "thread", "async client"],
    "send": [("GET", "/tournaments", 2, 1)],
    "source": "https://github.com/evroon/bracket/pull/455",
}
MIGRATION = "import time; time.sleep(1); print('head')"


def upgrade(target: str) -> str:
    command = [sys.executable, "-S", "-c", MIGRATION, target]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout  # FAULT


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.revision = upgrade("head")
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/tournaments")
async def tournaments() -> dict[str, str]:
    return {"revision": app.state.revision}
