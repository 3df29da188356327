"""A hundred calls at once of an endpoint declared with def, each a second long."""

import time

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "starves",
    "route": "GET /slow",
    "cures": ["more threads", "async client"],
    "send": [("GET", "/slow", 100, 100)],
    "source": "",
}

app = FastAPI()


@app.get("/slow")
def slow():
    time.sleep(1)  # FAULT
    return "ok"
