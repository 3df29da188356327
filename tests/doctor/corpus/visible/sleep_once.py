"""One request sleeps once on the event loop."""

import time

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "GET /pay",
    "cures": ["async client", "thread"],
    "send": [("GET", "/pay", 1, 1)],
    "source": "",
}

app = FastAPI()


@app.get("/pay")
async def pay():
    time.sleep(0.4)  # FAULT
    return {"paid": True}
