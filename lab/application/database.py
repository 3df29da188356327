"""Question: is a SELECT faster from an `async def` endpoint than from a `def` endpoint?

Setup: each endpoint selects the row of a random user by its primary key. GET /sync_select uses psycopg_pool's
ConnectionPool in one of AnyIO's threads. GET /async_select uses AsyncConnectionPool on the event loop. Each pool opens
connections when requests need them, up to APP_LAB_POOL_SIZE. `with pool.connection()` makes each SELECT a transaction:
BEGIN, SELECT and COMMIT are three round trips. Study 3 selected the same user every time, and its Postgres ran on
another machine. Here, Postgres and the lab share the cores of one machine.

Published (study 3): 1,124 requests a second for `def` and 2,008 for `async def`, which is 1.8 times as many, with 4
workers and 2,000 virtual users.

What to expect: `async def` is faster. Both endpoints wait for the same Postgres, but a `def` endpoint needs CPU to pass
the request to a thread and back. It needs even more CPU if many threads run at the same time: a single thread
(APP_LAB_THREADPOOL_TOKENS=1) is faster than 40 threads. The more CPU Postgres itself needs, the smaller is the
difference.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, Request

from lab.application.connection_pools import BlockingPool, NativePool, both
from lab.application.lab_problems import LabUnavailable
from lab.application.user_rows import FILL_IT
from lab.lab_settings import LabSettings

router = APIRouter()
_SELECT = "SELECT id, name, email, created_at FROM users WHERE id = %s"
_COLUMNS = ("id", "name", "email", "created_at")


@asynccontextmanager
async def opened(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    async with both(settings) as (blocking, native):
        yield {"database_blocking": blocking, "database_native": native}


@router.get("/sync_select")
def sync_select(request: Request) -> dict[str, Any]:
    pool: BlockingPool = request.state.database_blocking
    user = pool.user()
    with pool.connection() as connection:
        return _answer(connection.execute(_SELECT, (user,)).fetchone())


@router.get("/async_select")
async def async_select(request: Request) -> dict[str, Any]:
    pool: NativePool = request.state.database_native
    user = await pool.user()
    async with pool.connection() as connection:
        found = await connection.execute(_SELECT, (user,))
        return _answer(await found.fetchone())


def _answer(row: tuple[Any, ...] | None) -> dict[str, Any]:
    if row is None:
        raise LabUnavailable(f"Users have gone since this process counted them: {FILL_IT}")
    return dict(zip(_COLUMNS, row, strict=True))
