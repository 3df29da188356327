"""Question: ten users get their answers, but with a hundred users every request hangs, and Postgres is idle. Why?

Setup: a `def` handler needs a connection from a pool of ten, and one of AnyIO's 40 threads. In `/dependency`, a sync
dependency takes the connection in a thread and returns the thread; then the handler needs a thread again. `/handler`
takes the connection inside the handler. `/limited` is like `/dependency`, but with `max_concurrency=10`. `/awaited`
uses an async pool and no thread. `/held` counts the threads and connections in use, and the requests that wait for
them.

Asked: fastapi#3205, PRs #5122, #12066 and #15372, discord/access#496.

What to expect: ten requests own a connection and wait for a thread. 40 requests own a thread and wait for a connection.
No request can continue until the pool's time-out. The deadlock needs as many requests at a time as there are threads
and connections together: 50.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, FastAPI, Request
from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from lab.lab_settings import load_lab_settings

SELECT = "SELECT count(*) FROM generate_series(1, 1000)"
CONNECTIONS = 10


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    settings = load_lab_settings()
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    current_default_thread_limiter().total_tokens = settings.threadpool_tokens
    sizes: dict[str, Any] = {"min_size": 1, "max_size": settings.pool_size, "timeout": settings.pool_timeout}
    with ConnectionPool(url, open=True, **sizes) as pool:
        async with AsyncConnectionPool(url, open=False, **sizes) as native:
            yield {"pool": pool, "native": native}


app = FastAPI(lifespan=lifespan)


def connection(request: Request) -> Iterator[Connection]:
    with request.state.pool.connection() as lent:
        yield lent


async def native_connection(request: Request) -> AsyncIterator[AsyncConnection]:
    async with request.state.native.connection() as lent:
        yield lent


@app.get("/dependency")
def dependency(lent: Annotated[Connection, Depends(connection)]) -> Any:
    return lent.execute(SELECT).fetchone()


@app.get("/limited")
def limited(lent: Annotated[Connection, Depends(connection, max_concurrency=CONNECTIONS)]) -> Any:
    return lent.execute(SELECT).fetchone()


@app.get("/handler")
def handler(request: Request) -> Any:
    with request.state.pool.connection() as lent:
        return lent.execute(SELECT).fetchone()


@app.get("/awaited")
async def awaited(lent: Annotated[AsyncConnection, Depends(native_connection)]) -> Any:
    return await (await lent.execute(SELECT)).fetchone()


@app.get("/held")
async def held(request: Request) -> dict[str, int]:
    """Returns how many threads and connections are in use, and how many requests wait for each."""
    threads, pool = current_default_thread_limiter().statistics(), request.state.pool.get_stats()
    return {
        "threads": threads.borrowed_tokens,
        "waiting_for_a_thread": threads.tasks_waiting,
        "connections": pool["pool_size"] - pool["pool_available"],
        "waiting_for_a_connection": pool["requests_waiting"],
    }
