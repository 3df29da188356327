"""A handler waits for the result of a thread pool."""

import time
from concurrent.futures import ThreadPoolExecutor

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "GET /sum",
    "cures": ["async client", "thread"],
    "send": [("GET", "/sum", 3, 1)],
    "source": "",
}

pool = ThreadPoolExecutor(4)
app = FastAPI()


@app.get("/sum")
async def total():
    futures = [pool.submit(time.sleep, 0.4) for _ in range(2)]
    return len([future.result() for future in futures])  # FAULT
