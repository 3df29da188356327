"""Question: a request has three slow tasks. Should it block a thread, await them in turn, or gather them?

Setup: each task waits `?ms=` (5 s in study 1). `sync_baseline` blocks a thread of the pool for each request.
`async_independent` and `async_dependent` await one task after the other; in `async_dependent`, each task needs the
result of the previous task. `async_concurrent` gathers the tasks. Study 1 used 2 workers, 500 users and five minutes.

Published: requests a second and average latency (study "fastapi-async-perf"): sync_baseline 5.29 and 79.1 s,
async_independent 32.24 and 15.0 s, async_dependent 32.25 and 15.0 s, async_concurrent 97.33 and 5.0 s.

What to expect: three tasks of 5 s take 15 s. `def` handles as many requests at a time as there are threads: 2 workers
× 40 threads ÷ 15 s = 5.3 requests a second. If handlers await, all 500 requests run at the same time: 500 ÷ 15 s = 33.
Gathering shortens a request to a third, so in a closed loop the users send three times as many requests. Awaiting is
enough for throughput; gathering shortens the latency of one request.
"""

import asyncio
import time

from fastapi import APIRouter

from lab.application.opening import nothing as opened
from lab.application.parameters import Milliseconds

__all__ = ["opened", "router"]

router = APIRouter()


def blocking(ms: int, task: int) -> int:
    time.sleep(ms / 1000)
    return task


async def awaited(ms: int, task: int) -> int:
    await asyncio.sleep(ms / 1000)
    return task


@router.get("/sync_baseline")
def sync_baseline(ms: Milliseconds = 5000) -> list[int]:
    return [blocking(ms, task) for task in (1, 2, 3)]


@router.get("/async_independent")
async def async_independent(ms: Milliseconds = 5000) -> list[int]:
    return [await awaited(ms, task) for task in (1, 2, 3)]


@router.get("/async_dependent")
async def async_dependent(ms: Milliseconds = 5000) -> list[int]:
    first = await awaited(ms, 1)
    second = await awaited(ms, first + 1)
    return [first, second, await awaited(ms, second + 1)]


@router.get("/async_concurrent")
async def async_concurrent(ms: Milliseconds = 5000) -> list[int]:
    return list(await asyncio.gather(*(awaited(ms, task) for task in (1, 2, 3))))
