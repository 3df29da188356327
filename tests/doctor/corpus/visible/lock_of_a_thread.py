"""A handler waits for a lock that a thread holds."""

import threading
import time

CASE = {
    "framework": "asgi",
    "kind": "waits",
    "route": "GET /locked",
    "cures": ["async client", "thread"],
    "send": [("GET", "/locked", 3, 1)],
    "source": "",
}

LOCK = threading.Lock()


def refresh():
    with LOCK:
        time.sleep(0.5)


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    threading.Thread(target=refresh).start()
    time.sleep(0.005)
    with LOCK:  # FAULT
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
