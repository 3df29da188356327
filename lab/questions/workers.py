"""Question: how many workers does a pod need, and should gunicorn, uvicorn or more pods provide them?

Setup: `/compute` computes for a few milliseconds, `/report` computes eleven times as long, and `/wait` waits 50 ms on
the event loop. The cases are one process with one CPU; four workers of uvicorn or gunicorn that share one CPU; and four
processes with a quarter of a CPU each, like four pods.

Asked: fastapi#1484, #1727 and #2227, uvicorn#303.

What to expect: workers share the CPU, so on one CPU, four workers compute no more than one worker, and need four times
the memory. A quarter of a CPU is 25 ms in each 100 ms: a process that has used its 25 ms stops until the next period,
and its requests wait. The advantage of four pods is that a kill cuts off a quarter of the requests instead of all. The
connections are not spread evenly over four workers of one pod, so the kill of one worker can cut off nearly all
requests.
"""

import asyncio

from fastapi import FastAPI

from lab.application.fibonacci import fibonacci

NUMBER, LARGE = 23, 28  # fibonacci(28) takes eleven times as long as fibonacci(23), which takes 2 to 5 ms
app = FastAPI()


@app.get("/compute")
async def compute() -> int:
    return fibonacci(NUMBER)


@app.get("/report")
async def report() -> int:
    return fibonacci(LARGE)


@app.post("/wait")
async def wait() -> str:
    await asyncio.sleep(0.05)
    return "waited"
