"""Question: a request has three slow tasks. Do they wait in a thread, in turn on the event loop, or side by side?

Setup: each task waits `?ms=` (5 s in the study). `sync_baseline` blocks a thread of the pool for each request;
`async_independent` and `async_dependent` await one task after the other, the latter because each takes the last one's
result; `async_concurrent` gathers them. 2 workers, 500 users, five minutes in the study.

Published: requests a second and average (study "fastapi-async-perf"): sync_baseline 5.29 and 79.1 s,
async_independent 32.24 and 15.0 s, async_dependent 32.25 and 15.0 s, async_concurrent 97.33 and 5.0 s.

What to expect: `def` does as many requests at a time as there are threads: 2 workers × 40 threads ÷ 15 s = 5.3 a
second, and the others wait. Awaiting lets all 500 wait at the same time: 500 ÷ 15 s = 33. Gathering shortens each
request to a third, and in a closed loop three times as many are made. Await is enough for throughput, gather is needed
for the time of one request.
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
