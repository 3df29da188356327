"""Forty requests compute for 40 ms each, below the limit."""

import time

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "many_short",
    "route": "GET /price",
    "cures": ["process", "less"],
    "send": [("GET", "/price", 40, 1)],
    "source": "",
}

app = FastAPI()


@app.get("/price")
async def price():
    began = time.thread_time()
    total = 0
    while time.thread_time() - began < 0.04:  # FAULT
        total += 1  # FAULT
    return total
