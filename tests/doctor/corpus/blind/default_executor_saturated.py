"""Slow uploads occupy every thread of the default executor, so short calls wait for a thread.

After python/cpython#112169 (getaddrinfo manifests in misleading DNS timeouts when the executor is saturated).
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
    "route": "POST /uploads",
    "cures": ["more threads", "async client"],
    "send": [("POST", "/uploads", 1, 1)],
    "source": "https://github.com/python/cpython/issues/112169",
}


def upload(part: int) -> int:
    with urllib.request.urlopen(os.environ["CASE_HTTP"] + "/slow/1.2", b"part", timeout=60) as answer:  # FAULT
        return int(answer.status) + part


async def uploads(request: Request) -> JSONResponse:
    parts = [asyncio.to_thread(upload, part) for part in range(36)]  # FAULT
    statuses = await asyncio.gather(*parts)  # FAULT
    return JSONResponse({"parts": len(statuses)})


app = Starlette(routes=[Route("/uploads", uploads, methods=["POST"])])
