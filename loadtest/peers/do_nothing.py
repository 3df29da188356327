"""A service that does nothing, like `do-nothing-sync` in the talk's appendix: FastAPI, a `def` handler, 200 threads.

python -m loadtest.peers.do_nothing    listens on APP_PORT, and spends INSTRUMENT_OVERHEAD_MS on each request
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

from app.web.threads import set_tokens
from profiles.instruments import OVERHEAD_MS
from profiles.instruments.overhead import Overhead

TOKENS = 200


@asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    set_tokens(TOKENS)
    yield


app = FastAPI(lifespan=_lifespan)
if overhead := float(os.environ.get(OVERHEAD_MS, "0")):
    app.add_middleware(Overhead, seconds=overhead / 1000)


@app.post("/webhooks/chargebee")
def do_nothing() -> None:
    """Answers at once."""


@app.get("/readyz")
async def ready() -> None:
    """Answers at once."""


if __name__ == "__main__":
    uvicorn.run(app, port=int(os.environ["APP_PORT"]), access_log=False, log_level="warning")
