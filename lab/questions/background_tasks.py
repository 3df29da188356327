"""Question: BackgroundTasks run after the response. What do they block, and what becomes of them at a restart?

Setup: each endpoint answers, and its task then works for `?ms=`. A finished task logs a line.

    /blocking       an `async def` task that blocks the event loop
    /awaiting       an `async def` task that awaits
    /threads        a `def` task
    /own            an `async def` task that runs the work of `/threads` in ten threads of a separate limiter
    /job            no task: the handler inserts a row into Postgres, then answers; ten runners do the jobs
    /async, /sync   requests of other clients, to an `async def` and to a `def` handler

Asked: fastapi#404, #1313, #1355 and #3824, starlette#2972.

What to expect: a task runs in the same process as the handlers: on the event loop if it is `async def`, in one of the
40 threads if it is `def`. A task that blocks the event loop blocks all requests. When uvicorn stops, it waits for the
tasks, by default without a time-out. If a time-out or SIGKILL ends the process first, the tasks are lost, although the
clients have got a 200. The row of a job that is not done stays in the table.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from anyio import CapacityLimiter, to_thread
from fastapi import BackgroundTasks, FastAPI, Request
from psycopg_pool import AsyncConnectionPool

from lab.application.parameters import Milliseconds
from lab.lab_settings import load_lab_settings

JOBS = "CREATE TABLE IF NOT EXISTS jobs (id bigserial PRIMARY KEY, ms int NOT NULL, done boolean DEFAULT false)"
TAKE = "SELECT id, ms FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
RUNNERS = 10
DONE = "task done"
logger = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    url = load_lab_settings().database_url
    state = {"limiter": CapacityLimiter(RUNNERS)}
    if url is None:
        yield state
        return
    async with AsyncConnectionPool(url.get_secret_value(), open=False, max_size=2 * RUNNERS) as pool:
        async with pool.connection() as connection:
            await connection.execute(JOBS)
        runners = {asyncio.create_task(run_jobs(pool)) for _ in range(RUNNERS)}
        yield state | {"pool": pool}
        while runners:
            for runner in runners:
                runner.cancel()
            # Cancels again if a runner has not ended after a second. The pool calls asyncio.wait_for, which may
            # suppress a cancellation under Python 3.11 (https://github.com/python/cpython/issues/86296).
            _, runners = await asyncio.wait(runners, timeout=1)


async def run_jobs(pool: AsyncConnectionPool) -> None:
    """Does one job after the other. If this process ends before a job is done, another process can do that job."""
    while True:
        async with pool.connection() as connection:
            job = await (await connection.execute(TAKE)).fetchone()
            if job is not None:
                await asyncio.sleep(job[1] / 1000)
                await connection.execute("UPDATE jobs SET done = true WHERE id = %s", job[:1])
        if job is None:
            await asyncio.sleep(0.05)


app = FastAPI(lifespan=lifespan)


def work(ms: int) -> None:
    time.sleep(ms / 1000)
    logger.warning(DONE)


async def blocking_work(ms: int) -> None:
    work(ms)


async def awaiting_work(ms: int) -> None:
    await asyncio.sleep(ms / 1000)
    logger.warning(DONE)


async def own_threads(ms: int, limiter: CapacityLimiter) -> None:
    await to_thread.run_sync(work, ms, limiter=limiter)


TASKS: dict[str, Any] = {"blocking": blocking_work, "awaiting": awaiting_work, "threads": work}


@app.post("/job")
async def job(request: Request, ms: Milliseconds) -> str:
    async with request.state.pool.connection() as connection:
        await connection.execute("INSERT INTO jobs (ms) VALUES (%s)", (ms,))
    return "accepted"


@app.get("/async")
async def somebody() -> str:
    return "here"


@app.get("/sync")
def somebody_in_a_thread() -> str:
    return "here"


@app.post("/own")
async def own(request: Request, tasks: BackgroundTasks, ms: Milliseconds) -> str:
    tasks.add_task(own_threads, ms, request.state.limiter)
    return "accepted"


@app.post("/{kind}")
async def add(tasks: BackgroundTasks, kind: Literal["blocking", "awaiting", "threads"], ms: Milliseconds) -> str:
    tasks.add_task(TASKS[kind], ms)
    return "accepted"
