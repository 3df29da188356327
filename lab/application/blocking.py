"""Question: what does it cost to block: a thread, or the event loop?

Setup: each sleep takes `?ms=`. Awaited on the loop; blocking in a thread; both, one after the other, in a thread (with
an event loop of its own for the awaited one, `anyio.run`, as published); and both on the loop, where the second blocks
it. k6 with 10,000 virtual users for 30 s, and different numbers of workers in the study.

Published: requests a second and average (study 3 of the sync/async studies). Awaited, 1,000 ms: 2,044 and 4.67 s with
one worker, 7,638 and 1.25 s with six. In threads, 1,000 ms, 16 workers: 566 blocking and 588 by `anyio.run`, 13.1 s.
Both in threads, 500 ms, 16 workers: 486 and 15.7 s. Both on the loop, 500 ms: 164 and 54 s, 81 % failed.

What to expect: awaited, as many a second as there are users, until the CPU is full. In threads, 40 for each worker and
second of sleep, however many users there are: 16 workers × 40 threads ÷ (2 × 0.5 s) = 640, less what a loop for each
request costs. What blocks the loop leaves 1 ÷ 0.5 s = 2 a second for each worker, and no other request of that worker
is answered meanwhile.
"""

import asyncio
import time

import anyio
from fastapi import APIRouter

from lab.application.opening import nothing as opened
from lab.application.parameters import Milliseconds

__all__ = ["opened", "router"]

router = APIRouter()


@router.get("/async_endpoint_async_processing")
async def async_endpoint_async_processing(ms: Milliseconds = 1000) -> int:
    await asyncio.sleep(ms / 1000)
    return ms


@router.get("/sync_endpoint_sync_processing")
def sync_endpoint_sync_processing(ms: Milliseconds = 1000) -> int:
    time.sleep(ms / 1000)
    return ms


@router.get("/sync_endpoint_mix_processing")
def sync_endpoint_mix_processing(ms: Milliseconds = 1000) -> int:
    anyio.run(asyncio.sleep, ms / 1000)  # a new event loop for each request, as published
    time.sleep(ms / 1000)
    return ms


@router.get("/async_endpoint_mix_processing")
async def async_endpoint_mix_processing(ms: Milliseconds = 1000) -> int:
    await asyncio.sleep(ms / 1000)
    time.sleep(ms / 1000)  # noqa: ASYNC251  # that it blocks the event loop is what is measured
    return ms
