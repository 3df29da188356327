"""httpx.get waits for an answer; it also imports, and builds a client and a TLS context, in less time."""

import os

import httpx
from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "GET /rate",
    "cures": ["async client", "thread"],
    "send": [("GET", "/rate", 4, 1)],
    "source": "",
}

app = FastAPI()


@app.get("/rate")
async def rate():
    return httpx.get(os.environ["CASE_HTTP"] + "/slow/0.4").json()  # FAULT
