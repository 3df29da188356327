"""Question: `def` or `async def`, and which work belongs in a thread or in a process?

Setup: five kinds of work: nothing; a call of an upstream that takes 200 ms, by an async client or by a sync client; a
computation of 2 to 5 ms; and a call with a computation. Each kind of work runs in four ways: `/def` in one of 40
threads, `/async` on the event loop, `/thread` and `/process` by an `async def` handler that passes the work to a thread
or a process. `/process` has no async client, because the client belongs to the event loop of the application.

Asked: in every discussion of FastAPI's performance.

What to expect: `async def` is best for work that awaits, `def` or a thread for work that blocks, and a process for work
that computes. Work that blocks in `async def` blocks all requests: the application handles one request at a time.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from multiprocessing import get_context
from typing import Literal

import aiohttp
import requests
from anyio import from_thread
from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from lab.application.fibonacci import fibonacci

NUMBER, WAIT_MS = 23, 200
Work = Literal["nothing", "awaits", "blocks", "computes", "both"]
url = f"{os.environ.get('APP_LAB_UPSTREAM_URL', '')}/?ms={WAIT_MS}"
processes = ProcessPoolExecutor(2, get_context("spawn"))
clients: list[aiohttp.ClientSession] = []


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        clients.append(http)
        yield
    # Waits for the processes, because the CPU time that they use later would count as other programs' CPU time.
    processes.shutdown(cancel_futures=True)


async def awaits() -> int:
    async with clients[0].get(url) as answer:
        return answer.status


async def awaits_and_computes() -> int:
    return await awaits() + computes()


def nothing() -> int:
    return 0


def blocks() -> int:
    return requests.get(url, timeout=60).status_code


def computes() -> int:
    return fibonacci(NUMBER)


def both() -> int:
    return blocks() + computes()


# A thread passes `awaits` to the event loop, because the async client belongs to this loop.
DONE: dict[str, Callable[[], int]] = {
    "nothing": nothing,
    "awaits": lambda: from_thread.run(awaits),
    "blocks": blocks,
    "computes": computes,
    "both": both,
}
AWAITED: dict[str, Callable[[], Awaitable[int]]] = {"awaits": awaits, "both": awaits_and_computes}
app = FastAPI(lifespan=lifespan)


@app.get("/def/{work}")
def in_def(work: Work) -> int:
    return DONE[work]()


@app.get("/async/{work}")
async def in_async_def(work: Work) -> int:
    return await AWAITED[work]() if work in AWAITED else DONE[work]()


@app.get("/thread/{work}")
async def in_a_thread(work: Work) -> int:
    return await run_in_threadpool(DONE[work])


@app.get("/process/{work}")
async def in_a_process(work: Literal["nothing", "blocks", "computes", "both"]) -> int:
    return await asyncio.get_running_loop().run_in_executor(processes, DONE[work])
