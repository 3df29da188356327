"""A handler of Litestar writes a large document as JSON."""

import json
import time

from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": "computes",
    "route": "GET /export",
    "cures": ["less", "process", "thread"],
    "send": [("GET", "/export", 2, 1)],
    "source": "",
}

ROWS = [{"id": n, "name": f"item {n}", "tags": ["a", "b", "c"]} for n in range(20_000)]


def calibrated():
    """Returns rows that take 0.5 s on this processor and with this version of Python."""
    began = time.thread_time()
    json.dumps(ROWS, indent=1)
    return ROWS * (round(0.5 / (time.thread_time() - began)) + 1)


DATA = calibrated()


@get("/export")
async def export() -> str:
    return str(len(json.dumps(DATA, indent=1)))  # FAULT


app = Litestar([export])
