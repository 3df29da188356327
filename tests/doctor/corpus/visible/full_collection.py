"""A handler collects garbage in a heap of many objects."""

import gc

CASE = {
    "framework": "asgi",
    "kind": "collects",
    "route": "GET /clean",
    "cures": ["garbage"],
    "send": [("GET", "/clean", 3, 1)],
    "source": "",
}

gc.disable()
HEAP = [[n] for n in range(4_000_000)]
gc.enable()


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    freed = gc.collect()  # FAULT
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(freed).encode()})
