"""A plain ASGI application encodes a large answer with an indent, which uses the slow encoder.

After simonw/datasette#37 (Ability to serialize massive JSON without blocking event loop).
"""

import json
import time
from typing import Any

CASE = {
    "framework": "asgi",
    "kind": "computes",
    "route": "GET /trees.json",
    "cures": ["less", "process", "thread"],
    "send": [("GET", "/trees.json", 2, 1)],
    "source": "https://github.com/simonw/datasette/issues/37",
}
ROWS = [
    {"id": number, "species": f"Quercus {number % 90}", "height": number % 31, "position": [number / 3, number / 5]}
    for number in range(10_000)
]


def encode(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps({"ok": True, "rows": rows}, indent=2).encode()  # FAULT


def calibrated() -> list[dict[str, Any]]:
    """Returns rows that take 0.5 s on this processor and with this version of Python."""
    began = time.thread_time()
    encode(ROWS)
    return ROWS * (round(0.5 / (time.thread_time() - began)) + 1)


rows = calibrated()


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = encode(rows)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})
