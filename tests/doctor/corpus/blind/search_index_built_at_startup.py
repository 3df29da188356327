"""The lifespan builds a search index in Python, so the loop computes for seconds before the first request.

After gavinmcfall/home-ops#2186 (relax liveness probe for HNSW index load, which blocks the event loop).
"""

import contextlib
import time
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "startup",
    "route": "",
    "cures": ["before serving", "thread", "process"],
    "send": [("GET", "/search?word=aa", 2, 1)],
    "source": "https://github.com/gavinmcfall/home-ops/pull/2186",
}


def distance(one: int, other: int) -> int:
    return bin(one ^ other).count("1")  # FAULT


def neighbours(vectors: list[int]) -> dict[int, int]:
    nearest = {}
    for vector in vectors:
        nearest[vector] = min(vectors, key=lambda other: distance(vector, other) or 99)  # FAULT
    return nearest


def calibrated() -> int:
    """Returns how many vectors take 3 s on this processor: four times as much for twice as many."""
    began = time.thread_time()
    neighbours(list(range(400)))
    return round(400 * (3 / (time.thread_time() - began)) ** 0.5)


@contextlib.asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    vectors = [(number * 2654435761) % 2**32 for number in range(calibrated())]
    app.state.index = neighbours(vectors)  # FAULT
    yield


async def search(request: Request) -> JSONResponse:
    return JSONResponse({"vectors": len(request.app.state.index)})


app = Starlette(routes=[Route("/search", search)], lifespan=lifespan)
