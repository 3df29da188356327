"""Connects experiments to Postgres by psycopg's sync and async pools, and translates errors into LabUnavailable.

The first request that needs a pool opens the pool. Therefore, the lab can start without Postgres, and a measurement
that needs no Postgres has no threads of a pool. If a connection breaks, one request fails, and the pool opens a new
connection.
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
# The pool tries to reconnect for this time, and then waits for the next request. The pauses between attempts grow, so
# with a longer time, the pool would notice the end of an outage too late.
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
        """Yields a connection in a transaction. Raises LabUnavailable if the connection or a statement fails."""
        with _failures(self._settings, self._pool):
            if self._pool.closed:
                self._pool.open()
            with self._pool.connection() as connection:
                yield connection

    def user(self, wanted: int | None = None) -> int:
        """Returns `wanted`, or the number of a random user if `wanted` is None.

        Raises LabUnavailable if Postgres fails or has no users. Raises RequestValidationError (422) if no user has the
        number `wanted`.
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
    """Yields a pool of each kind, and closes both at the end. Enter the context on the handlers' event loop."""
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
    """Returns the connection string. It sets time-outs for connecting, for each statement, and for a silent network."""
    assert settings.database_url is not None
    try:
        given = conninfo_to_dict(settings.database_url.get_secret_value())
    except psycopg.ProgrammingError:  # the error's message contains the password, and the pool would log it
        raise psycopg.OperationalError("APP_LAB_DATABASE_URL is not a postgresql URL") from None
    limits: dict[str, Any] = {
        "connect_timeout": _CONNECT_SECONDS,
        "tcp_user_timeout": 1000 * STATEMENT_SECONDS,
        # tcp_user_timeout ends a connection only if sent data is not acknowledged. While a query waits for its answer,
        # only keep-alive probes are sent.
        "keepalives_idle": STATEMENT_SECONDS // 2,
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
