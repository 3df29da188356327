"""The callback of a finished task writes to the audit service with requests, on the event loop."""

import asyncio
import os

import requests
from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "POST /exports",
    "cures": ["async client", "thread"],
    "send": [("POST", "/exports", 3, 1), ("GET", "/exports", 2, 1)],
    "source": "",
}
app = FastAPI()
running: set[asyncio.Task[int]] = set()


async def export() -> int:
    await asyncio.sleep(0.05)
    return 12


def audited(task: asyncio.Task[int]) -> None:
    running.discard(task)
    requests.post(os.environ["CASE_HTTP"] + "/slow/0.4", json={"rows": task.result()}, timeout=60)  # FAULT


@app.post("/exports", status_code=202)
async def start() -> dict[str, int]:
    task = asyncio.create_task(export())
    running.add(task)
    task.add_done_callback(audited)
    return {"running": len(running)}


@app.get("/exports")
async def listed() -> dict[str, int]:
    await asyncio.sleep(0.2)
    return {"running": len(running)}
