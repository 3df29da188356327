"""Each request builds TLS contexts from the CA bundle."""

import ssl

import certifi

CASE = {
    "framework": "asgi",
    "kind": "builds",
    "route": "GET /tls",
    "cures": ["once"],
    "send": [("GET", "/tls", 3, 1)],
    "source": "",
}


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    for _ in range(30):
        ssl.create_default_context(cafile=certifi.where())  # FAULT
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
