"""The lifespan waits for a database with time.sleep."""

import time
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "startup",
    "route": "",
    "cures": ["before serving"],
    "send": [("GET", "/", 1, 1)],
    "source": "",
}


@asynccontextmanager
async def lifespan(app):
    for _ in range(3):
        time.sleep(0.3)  # FAULT
    yield


async def index(request):
    return PlainTextResponse("ok")


app = Starlette(routes=[Route("/", index)], lifespan=lifespan)
