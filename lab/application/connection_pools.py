"""Connects experiments to Postgres with psycopg's two pools, as published, and translates errors into LabUnavailable.

The first request that needs a pool opens the pool. Therefore, the lab starts without Postgres, and a measurement
without Postgres has no connections and threads of a pool. If a connection breaks, one request fails, and the pool opens
a new connection.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from anyio import to_thread
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout, TooManyRequests

from lab.application.lab_problems import LabUnavailable
from lab.application.user_rows import FILL_IT, HIGHEST, highest, pick
from lab.lab_settings import LabSettings

STATEMENT_SECONDS = 10
_CONNECT_SECONDS = 5
# The pool tries to reconnect for this time, and again at the next request. Over a longer time, its pauses would grow,
# and the pool would notice the end of an outage too late.
_RECONNECT_SECONDS = 1.0
_REACH = "is Postgres up, and APP_LAB_DATABASE_URL right? (`python -m lab --postgres` starts one)"


class BlockingPool:
    """A pool of database connections for `def` endpoints."""

    def __init__(self, settings: LabSettings) -> None:
        self._settings = settings
        self._pool = ConnectionPool(lambda: _conninfo(settings), **_sizes(settings))
        self._most: int | None = None

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Yields a connection in a transaction. Raises LabUnavailable, also if a statement of the caller fails."""
        with _failures(self._settings, self._pool):
            if self._pool.closed:
                self._pool.open()
            with self._pool.connection() as connection:
                yield connection

    def user(self, wanted: int | None = None) -> int:
        """Returns the number of an existing user: `wanted`, or a random one.

        Raises LabUnavailable, or RequestValidationError (422) if there is no user `wanted`.
        """
        if self._most is None:
            with self.connection() as connection:
                self._most = highest(connection.execute(HIGHEST).fetchone())
        return pick(self._most, wanted)

    def close(self) -> None:
        self._pool.close()


class NativePool:
    """A pool of database connections for `async def` endpoints, with the same methods as `BlockingPool`."""

    def __init__(self, settings: LabSettings) -> None:
        self._settings = settings
        self._pool = AsyncConnectionPool(lambda: _conninfo(settings), **_sizes(settings))
        self._most: int | None = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        with _failures(self._settings, self._pool):
            if self._pool.closed:
                await self._pool.open()
            async with self._pool.connection() as connection:
                yield connection

    async def user(self, wanted: int | None = None) -> int:
        if self._most is None:
            async with self.connection() as connection:
                found = await connection.execute(HIGHEST)
                self._most = highest(await found.fetchone())
        return pick(self._most, wanted)

    async def close(self) -> None:
        await self._pool.close()


@asynccontextmanager
async def both(settings: LabSettings) -> AsyncIterator[tuple[BlockingPool, NativePool]]:
    """Creates both pools, and closes them at the end. Enter the context on the event loop that uses the pools."""
    blocking, native = BlockingPool(settings), NativePool(settings)
    try:
        yield blocking, native
    finally:
        await to_thread.run_sync(blocking.close)
        await native.close()


def _sizes(settings: LabSettings) -> dict[str, Any]:
    return {
        "min_size": 0,
        "max_size": settings.pool_size,
        "timeout": settings.pool_timeout,
        "reconnect_timeout": _RECONNECT_SECONDS,
        "open": False,
    }


def _conninfo(settings: LabSettings) -> str:
    """Returns the connection string, with time-outs for connecting, for a statement and for a silent network."""
    assert settings.database_url is not None
    try:
        given = conninfo_to_dict(settings.database_url.get_secret_value())
    except psycopg.ProgrammingError:  # its message contains the URL with the password, and the pool logs it
        raise psycopg.OperationalError("APP_LAB_DATABASE_URL is not a postgresql URL") from None
    limits: dict[str, Any] = {
        "connect_timeout": _CONNECT_SECONDS,
        "tcp_user_timeout": 1000 * STATEMENT_SECONDS,
        "keepalives_idle": STATEMENT_SECONDS // 2,  # tcp_user_timeout needs a probe while only an answer is awaited
        "options": f"{given.get('options') or ''} -c statement_timeout={STATEMENT_SECONDS}s".strip(),
    }
    return make_conninfo(**given | limits)


@contextmanager
def _failures(settings: LabSettings, pool: "ConnectionPool[Any] | AsyncConnectionPool[Any]") -> Iterator[None]:
    if settings.database_url is None:
        raise LabUnavailable("APP_LAB_DATABASE_URL is not set: `python -m lab --postgres` starts a Postgres")
    try:
        yield
    except (PoolTimeout, TooManyRequests):
        full = pool.get_stats()["pool_size"] >= settings.pool_size
        busy = f"all {settings.pool_size} are busy; APP_LAB_POOL_SIZE and APP_LAB_POOL_TIMEOUT allow for more"
        raise LabUnavailable(f"No connection within {settings.pool_timeout:g} s: {busy if full else _REACH}") from None
    except psycopg.errors.UndefinedTable:
        raise LabUnavailable(f"The database is empty: {FILL_IT}") from None
    except psycopg.errors.QueryCanceled:
        raise LabUnavailable(f"No answer from Postgres within {STATEMENT_SECONDS} s: is it busy?") from None
    except psycopg.Error as error:
        raise LabUnavailable(f"Postgres failed ({type(error).__name__}): {_REACH}") from None
