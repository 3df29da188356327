"""A plain ASGI application encodes a large answer with an indent, which uses the slow encoder.

After simonw/datasette#37 (Ability to serialize massive JSON without blocking event loop).
"""

import json
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
    for number in range(70_000)
]


def encode(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps({"ok": True, "rows": rows}, indent=2).encode()  # FAULT


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = encode(ROWS)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})
