"""A search that timed out still occupies its thread, so the next calls wait for a free one.

After xorbitsai/xagent#1194 (a timed-out to_thread call keeps running in the shared default executor).
"""

import asyncio
import os
import urllib.request

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "starves",
    "route": "GET /answers",
    "cures": ["more threads", "async client"],
    "send": [("GET", "/answers", 1, 1)],
    "source": "https://github.com/xorbitsai/xagent/pull/1194",
}


def search(collection: int) -> int:
    with urllib.request.urlopen(os.environ["CASE_HTTP"] + "/slow/2.5", timeout=60) as answer:  # FAULT
        return int(answer.status) + collection


async def limited(collection: int) -> int | None:
    try:
        return await asyncio.wait_for(asyncio.to_thread(search, collection), 0.2)  # FAULT
    except TimeoutError:
        return None


async def answers(request: Request) -> JSONResponse:
    found = await asyncio.gather(*(limited(collection) for collection in range(40)))
    spelling = await asyncio.to_thread(str.capitalize, "event loop")  # FAULT
    return JSONResponse({"found": sum(one is not None for one in found), "spelling": spelling})


app = Starlette(routes=[Route("/answers", answers)])
