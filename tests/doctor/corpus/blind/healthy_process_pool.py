"""A handler computes prime numbers in a process pool that the lifespan starts and ends."""

import asyncio
import contextlib
import multiprocessing
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/primes/60000", 6, 3)],
    "source": "",
}


def count_primes(limit: int) -> int:
    return sum(all(number % divisor for divisor in range(2, int(number**0.5) + 1)) for number in range(2, limit))


@contextlib.asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    await asyncio.wrap_future(await asyncio.to_thread(pool.submit, count_primes, 10))
    app.state.pool = pool
    try:
        yield
    finally:
        await asyncio.to_thread(pool.shutdown)


async def primes(request: Request) -> JSONResponse:
    limit = request.path_params["limit"]
    loop = asyncio.get_running_loop()
    return JSONResponse({"primes": await loop.run_in_executor(request.app.state.pool, count_primes, limit)})


app = Starlette(routes=[Route("/primes/{limit:int}", primes)], lifespan=lifespan)
