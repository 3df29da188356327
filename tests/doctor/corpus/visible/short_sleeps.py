"""Eighty requests sleep for 30 ms each."""

import time

from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": "many_short",
    "route": "GET /retry",
    "cures": ["async client", "thread"],
    "send": [("GET", "/retry", 80, 1)],
    "source": "",
}


@get("/retry")
async def retry() -> str:
    time.sleep(0.03)  # FAULT
    return "ok"


app = Litestar([retry])
