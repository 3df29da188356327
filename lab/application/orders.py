"""Question: how much faster is async than sync if a request also computes, and does a thread or a process help?

Setup: each request makes two queries at the same time, for a user's products and for all of the user's orders, and puts
the rows into polars DataFrames. Then it computes fibonacci(n) by plain recursion. n is the number of pieces that the
user has ordered, but at most `fib`.

    /orders/async                 queries by asyncio.gather, the rest on the event loop
    /orders/async_to_thread       the same, but the recursion by asyncio.to_thread
    /orders/async_process_pool    the same, but the recursion in a pool of APP_LAB_PROCESSES processes for each worker
    /orders/sync                  a `def` endpoint that makes a ThreadPoolExecutor(2) for each request, as published
    /orders/sync_shared_threads   a `def` endpoint with one executor, which has two threads for each of AnyIO's threads

Study 3 recommends the process pool, but did not measure it. All requests of the study were for one user, who had
ordered at least `fib` pieces. Here, `user_id` selects the user. Without it, the user is random. More than a third of
all users have ordered nothing, so for them, there is nothing to compute. (User 29 has ordered enough for every `fib` at
scales of 0.001 and 0.01.)

Published (study 3): requests a second.

    FIB   1 worker: async, to_thread, sync   4 workers: async, sync
    15    940, 836, 649                      693, 660
    20    543, 506, 405                      681, 651
    25    102, 88, 85                        386, 317
    30    10, 9, 9                           38, 33

At FIB=30, the unrounded rates give async ÷ sync 1.135 (1 worker) and 1.163 (4 workers), and to_thread ÷ async 0.888.

What to expect: async is faster if the queries are most of the work. `sync` loses time because it starts two threads for
each request. If many requests run at the same time, these threads also compete for the interpreter's lock. Shared
threads do so, too. From FIB=25 on, the recursion is most of the work. On the event loop and in a thread, the recursion
keeps the interpreter's lock. So the difference between async and sync disappears, and a thread does not help. Each
process has its own lock, so processes use all cores that Postgres leaves free. For a small `fib`, passing the work to a
process costs more than the computation.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request

from lab.application.connection_pools import STATEMENT_SECONDS, BlockingPool, NativePool, both
from lab.application.fibonacci import fibonacci
from lab.application.frames import ORDERS, PRODUCTS, blocking_frame, native_frame
from lab.application.lab_problems import LabUnavailable
from lab.application.processes import Processes, processes
from lab.application.turns import Turns
from lab.application.user_rows import UserId
from lab.lab_settings import LabSettings

if TYPE_CHECKING:
    import polars as pl

router = APIRouter()
Fib = Annotated[int, Query(ge=0, le=35, description="The most that fibonacci is computed of.")]
Row = dict[str, Any]
# The number of threads of asyncio's default executor:
# https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.ThreadPoolExecutor
_THREADS = min(32, (os.cpu_count() or 1) + 4)


@asynccontextmanager
async def opened(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    threads = Turns(_THREADS, settings.pool_timeout, f"all {_THREADS} threads compute; a smaller fib needs less time")
    two_each = ThreadPoolExecutor(2 * settings.threadpool_tokens)
    async with both(settings) as (blocking, native), processes(settings) as pool:
        try:
            yield {
                "orders_blocking": blocking,
                "orders_native": native,
                "orders_threads": threads,
                "orders_two_each": two_each,
                "orders_processes": pool,
                "orders_patience": settings.pool_timeout + 3 * STATEMENT_SECONDS,
            }
        finally:
            two_each.shutdown(wait=False, cancel_futures=True)


@router.get("/orders/async")
async def orders_async(request: Request, fib: Fib = 20, user_id: UserId = None) -> Row:
    user, products, orders = await _side_by_side(request, user_id)
    return _answer(user, products, orders, fibonacci(_number(orders, fib)))


@router.get("/orders/async_to_thread")
async def orders_async_to_thread(request: Request, fib: Fib = 20, user_id: UserId = None) -> Row:
    user, products, orders = await _side_by_side(request, user_id)
    turns: Turns = request.state.orders_threads
    async with turns.one():
        computed = await asyncio.to_thread(fibonacci, _number(orders, fib))
    return _answer(user, products, orders, computed)


@router.get("/orders/async_process_pool")
async def orders_async_process_pool(request: Request, fib: Fib = 20, user_id: UserId = None) -> Row:
    user, products, orders = await _side_by_side(request, user_id)
    pool: Processes = request.state.orders_processes
    return _answer(user, products, orders, await pool.fibonacci(_number(orders, fib)))


@router.get("/orders/sync")
def orders_sync(request: Request, fib: Fib = 20, user_id: UserId = None) -> Row:
    two = ThreadPoolExecutor(2)
    try:
        return _in_threads(two, request, fib, user_id)
    finally:
        two.shutdown(wait=False)


@router.get("/orders/sync_shared_threads")
def orders_sync_shared_threads(request: Request, fib: Fib = 20, user_id: UserId = None) -> Row:
    return _in_threads(request.state.orders_two_each, request, fib, user_id)


def _in_threads(threads: ThreadPoolExecutor, request: Request, fib: int, user_id: int | None) -> Row:
    pool: BlockingPool = request.state.orders_blocking
    user = pool.user(user_id)
    asked = [threads.submit(blocking_frame, pool, query, user) for query in (PRODUCTS, ORDERS)]
    try:
        products, orders = (future.result(request.state.orders_patience) for future in asked)
    except TimeoutError:
        raise LabUnavailable("The queries have taken too long: is Postgres busy?") from None
    finally:
        for future in asked:
            future.cancel()
    return _answer(user, products, orders, fibonacci(_number(orders, fib)))


async def _side_by_side(request: Request, user_id: int | None) -> tuple[int, "pl.DataFrame", "pl.DataFrame"]:
    pool: NativePool = request.state.orders_native
    user = await pool.user(user_id)
    products, orders = await asyncio.gather(*(native_frame(pool, query, user) for query in (PRODUCTS, ORDERS)))
    return user, products, orders


def _number(orders: "pl.DataFrame", fib: int) -> int:
    return min(int(orders["quantity"].sum()), fib)


def _answer(user: int, products: "pl.DataFrame", orders: "pl.DataFrame", computed: int) -> Row:
    return {
        "user_id": user,
        "products": products.to_dicts(),
        "orders": orders.to_dicts(),
        "quantity": int(orders["quantity"].sum()),
        "fibonacci": computed,
    }
