"""A process pool computes, and the loop waits for it."""

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager

from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/count", 8, 4)],
    "source": "",
}


def count(most):
    return sum(number * number % 7 for number in range(most))


@asynccontextmanager
async def lifespan(app):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        app.state.pool = pool
        await asyncio.get_running_loop().run_in_executor(pool, count, 10)
        yield


@get("/count")
async def counted() -> int:
    return await asyncio.get_running_loop().run_in_executor(app.state.pool, count, 1_000_000)


app = Litestar([counted], lifespan=[lifespan])
