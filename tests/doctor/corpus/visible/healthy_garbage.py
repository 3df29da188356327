"""Requests make cycles that the collector frees, in a small heap."""

CASE = {
    "framework": "asgi",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/", 200, 5)],
    "source": "",
}


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    for number in range(500):
        node = {"number": number}
        node["self"] = node
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
