"""A handler of Litestar writes a large document as JSON."""

import json

from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": "computes",
    "route": "GET /export",
    "cures": ["less", "process", "thread"],
    "send": [("GET", "/export", 2, 1)],
    "source": "",
}

DATA = [{"id": n, "name": f"item {n}", "tags": ["a", "b", "c"]} for n in range(200_000)]


@get("/export")
async def export() -> str:
    return str(len(json.dumps(DATA, indent=1)))  # FAULT


app = Litestar([export])
