"""Question: what does it cost to block a thread, and what does it cost to block the event loop?

Setup: each endpoint sleeps for `?ms=`. `async_endpoint_async_processing` awaits the sleep, and
`sync_endpoint_sync_processing` blocks a thread. The `mix` endpoints sleep twice, first with await, then blocking:
`sync_endpoint_mix_processing` in a thread, with a new event loop for the awaited sleep (`anyio.run`, as published), and
`async_endpoint_mix_processing` on the event loop, which the second sleep blocks. Study 3 (see `lab.application`) used
k6 with 10,000 virtual users for 30 s, and different numbers of workers.

Published (study 3): requests a second and average latency.

    awaited, 1,000 ms                    1 worker: 2,044 and 4.67 s; 6 workers: 7,638 and 1.25 s
    in a thread, 1,000 ms, 16 workers    566 (588 if the thread calls `anyio.run`) and 13.1 s
    mix in a thread, 500 ms, 16 workers  486 and 15.7 s
    mix on the event loop, 500 ms        164 and 54 s; 81 % of the requests failed

What to expect: with awaited sleeps of 1 s, each user gets one answer a second, until the CPU is full. In threads, 40
requests sleep at a time in each worker, however many users there are. A `mix` request in a thread sleeps twice for
0.5 s, so the limit is 16 workers × 40 threads ÷ (2 × 0.5 s) = 640 answers a second. Making an event loop for each
request lowers this limit. If a sleep blocks the event loop, a worker answers 1 ÷ 0.5 s = 2 requests a second. During
such a sleep, the worker answers no other request.
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
    time.sleep(ms / 1000)  # noqa: ASYNC251  # the block of the event loop is measured
    return ms
