"""A task that a handler starts with create_task polls the job and sleeps with time.sleep in between.

After fastapi/fastapi#2086 (Why middleware waits for all scheduled tasks to finish?).
"""

import asyncio
import time

from fastapi import FastAPI, Request, Response
from starlette.middleware.base import RequestResponseEndpoint

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "POST /jobs/{name}",
    "cures": ["async client", "thread"],
    "send": [("POST", "/jobs/import", 1, 1), ("GET", "/jobs", 4, 1)],
    "source": "https://github.com/fastapi/fastapi/issues/2086",
}
app = FastAPI()
jobs: dict[str, str] = {}
tasks: set[asyncio.Task[None]] = set()


@app.middleware("http")
async def no_store(request: Request, call_next: RequestResponseEndpoint) -> Response:
    response = await call_next(request)
    response.headers["cache-control"] = "no-store"
    return response


async def follow(name: str) -> None:
    for percent in (25, 50, 75, 100):
        time.sleep(0.45)  # FAULT
        jobs[name] = f"{percent} %"
        await asyncio.sleep(0)


@app.post("/jobs/{name}", status_code=202)
async def start(name: str) -> dict[str, str]:
    jobs[name] = "0 %"
    task = asyncio.create_task(follow(name))
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return {"name": name}


@app.get("/jobs")
async def progress() -> dict[str, str]:
    return jobs
