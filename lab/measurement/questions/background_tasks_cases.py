"""Measures other requests while background tasks run, and how many tasks survive a restart."""

import asyncio
from functools import partial

import aiohttp
import psycopg
import uvloop

from lab.measurement.case_users import crowd
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Stage, uvicorn
from lab.questions.background_tasks import DONE

TASK_MS = 200
TASKS = 200
SENDERS = 4
DURATIONS = [50 * (index + 1) for index in range(40)]  # milliseconds; half of the tasks take more than TIME_OUT
OPEN = "SELECT FROM jobs WHERE NOT done LIMIT 1"
TIME_OUT = ("--timeout-graceful-shutdown", "1")
OTHERS = "another request's p99 ms"
DONE_IN_THE_END = "done in the end, of 40"


async def _start_tasks(url: str, durations: list[int]) -> None:
    """Sends one request for each task, on a few connections, and returns when all requests are answered."""

    async def one(ms: int) -> None:
        async with http.post(f"{url}?ms={ms}") as answer:
            answer.raise_for_status()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=SENDERS)) as http:
        await asyncio.gather(*map(one, durations))


def _beside(stage: Stage, kind: str, other: str) -> Figures:
    """Measures four users of the endpoint `other`, while a burst of background tasks of the kind `kind` runs."""
    with stage.serve(uvicorn("background_tasks", *TIME_OUT)) as app:
        tasks = _start_tasks(f"{app.url}/{kind}", [TASK_MS] * TASKS)
        seen = uvloop.run(crowd([f"{app.url}/{other}"], 4, stage.seconds(2), pause=0.005, beside=tasks))
    return {OTHERS: seen.percentile(99)}


def _restarted(stage: Stage, kind: str, *options: str) -> Figures:
    """Returns how many of 40 tasks are done in the end, if SIGTERM comes as soon as all requests are answered.

    For the kind `job`, another process then does the remaining jobs.
    """
    with stage.serve(uvicorn("background_tasks", *options)) as app:
        asyncio.run(_start_tasks(f"{app.url}/{kind}", DURATIONS))
        app.end()
        done = app.log.read_text(encoding="utf-8").count(DONE)
    if kind == "job":
        with stage.serve(uvicorn("background_tasks", *options)):
            done = asyncio.run(_jobs_done(stage))
    return {DONE_IN_THE_END: done}


async def _jobs_done(stage: Stage) -> int:
    """Waits until every job is done, empties the table, and returns how many rows it had."""
    assert stage.beside.database is not None
    async with await psycopg.AsyncConnection.connect(stage.beside.database.url, autocommit=True) as connection:
        async with asyncio.timeout(60):
            while await (await connection.execute(OPEN)).fetchone() is not None:  # noqa: ASYNC110  # a database
                await asyncio.sleep(0.1)
        deleted = await connection.execute("DELETE FROM jobs")
        return deleted.rowcount


QUESTION = Question(
    title="BackgroundTasks: whom they block, and what a restart leaves of them",
    asked="fastapi#404, #1313, #1355 and #3824, starlette#2972",
    here=f"{TASKS} tasks of {TASK_MS} ms with four users for 2 s; and SIGTERM while 40 tasks of 0.05 to 2 s run",
    figure=OTHERS,
    database=True,
    cases={
        "an async def that blocks, beside async def": partial(_beside, kind="blocking", other="async"),
        "an async def that awaits, beside async def": partial(_beside, kind="awaiting", other="async"),
        "a def, beside async def": partial(_beside, kind="threads", other="async"),
        "a def, beside def": partial(_beside, kind="threads", other="sync"),
        "threads of its own, beside def": partial(_beside, kind="own", other="sync"),
        "SIGTERM": lambda stage: _restarted(stage, "awaiting"),
        "SIGTERM, time-out 1 s": lambda stage: _restarted(stage, "awaiting", *TIME_OUT),
        "a def, SIGTERM, time-out 1 s": lambda stage: _restarted(stage, "threads", *TIME_OUT),
        "rows in a table, SIGTERM, time-out 1 s": lambda stage: _restarted(stage, "job", *TIME_OUT),
    },
    quick=(
        "an async def that blocks, beside async def",
        "an async def that awaits, beside async def",
        "SIGTERM",
        "SIGTERM, time-out 1 s",
        "rows in a table, SIGTERM, time-out 1 s",
    ),
    claims=(
        Claim(
            "another request during an `async def` task: one that blocks ÷ one that awaits",
            Ratio(OTHERS, "an async def that blocks, beside async def", "an async def that awaits, beside async def"),
        ),
        Claim(
            "another `def` request during `def` tasks: in the 40 threads of all ÷ in ten of their own",
            Ratio(OTHERS, "a def, beside def", "threads of its own, beside def"),
            only_if="the other request needs a thread, too",
            unless=Ratio(OTHERS, "a def, beside async def", "an async def that awaits, beside async def"),
        ),
        Claim(
            "tasks done after a restart: rows in a table ÷ BackgroundTasks",
            Ratio(DONE_IN_THE_END, "rows in a table, SIGTERM, time-out 1 s", "SIGTERM, time-out 1 s"),
            only_if="the process ends before its tasks do",
            unless=Ratio(DONE_IN_THE_END, "rows in a table, SIGTERM, time-out 1 s", "SIGTERM"),
        ),
    ),
)
