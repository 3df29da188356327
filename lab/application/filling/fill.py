"""`fill()`: the study's rows into a database, by COPY, so that a killed run goes on where it ended."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict

from app.errors import ConfigurationError
from lab.application.filling import ledger
from lab.application.filling.rows import Counts, lines, scaled
from lab.application.filling.schema import FINISHED, FINISHES, TABLES

CHUNK = 20_000  # rows of a transaction: some 0.1 s
_LOCK = 0x1AB_F111  # of Postgres' advisory locks, which are numbers
_LOCK_SECONDS = 10
_CONNECT_SECONDS = 10


def steps(scale: float) -> int:
    """What `fill` counts: a row is one when it is loaded, and one for each index or key that is made of it."""
    counts = scaled(scale)
    return sum(counts) + sum(_rows(counts, finish.table) for finish in FINISHES)


def fill(url: str, scale: float, progress: Callable[[int], object], chunk: int = CHUNK) -> bool:
    """Fills the database at `url`; False where it was full before. `progress` gets how many more `steps` are done, at
    first those of earlier runs.

    Raises ConfigurationError: unreachable, tables of these names that are not ours, another scale, another fill.
    """
    with _connected(url) as connection, _alone(connection):
        counts = scaled(scale)
        done = ledger.read(connection) or ledger.create(connection, counts)
        if done.counts != counts:
            raise ConfigurationError(
                f"APP_LAB_DATABASE_URL: its database was filled with {done.counts.users:,} users, at scale"
                f" {done.counts.users / Counts().users:g}: allowed is that scale, or an empty database"
            )
        progress(done.loaded + sum(_rows(counts, finish.table) for finish in FINISHES[: done.finished]))
        if done.finished == FINISHED:
            return False
        for table, first, last in _chunks(counts, done.loaded, chunk):
            _load(connection, table, lines(table, first, last, counts), 1 + last - first)
            progress(1 + last - first)
        for finish in FINISHES[done.finished :]:
            with connection.transaction():
                connection.execute(finish.statement.encode())
                ledger.add(connection, finished=1)
            progress(_rows(counts, finish.table))
        _analyse(connection)
        return True


def _chunks(counts: Counts, loaded: int, chunk: int) -> Iterator[tuple[str, int, int]]:
    """Table, first and last row of each transaction to come."""
    for table, (start, end) in zip(TABLES, pairwise(accumulate(counts, initial=0)), strict=True):
        for first in range(max(loaded, start), end, chunk):
            yield table, 1 + first - start, min(first + chunk, end) - start


def _load(connection: Connection[Any], table: str, text: str, rows: int) -> None:
    with connection.transaction():
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))) as copy:
            copy.write(text)
        ledger.add(connection, loaded=rows)


def _analyse(connection: Connection[Any]) -> None:
    """Statistics for the planner, and nothing left that a first SELECT would have to write."""
    for table in TABLES:
        connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table)))
    ledger.add(connection, finished=1)


def _rows(counts: Counts, table: str) -> int:
    rows: int = getattr(counts, table)
    return rows


@contextmanager
def _connected(url: str) -> Iterator[Connection[Any]]:
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # its text repeats the URL, password and all
        raise ConfigurationError("APP_LAB_DATABASE_URL=(hidden): allowed is a postgresql URL") from None
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS) as connection:
            yield connection
    except psycopg.Error as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigurationError(
            f"APP_LAB_DATABASE_URL: {reason}: allowed is a Postgres that can be reached and written"
            " (`python -m lab postgres` starts one)"
        ) from None


@contextmanager
def _alone(connection: Connection[Any]) -> Iterator[None]:
    """Until the connection ends. The server is to notice a killed client also while it makes an index."""
    connection.execute("SET client_connection_check_interval = '1s'")
    connection.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
    try:
        connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
    except psycopg.errors.LockNotAvailable:
        raise ConfigurationError("APP_LAB_DATABASE_URL: its database is being filled by another run") from None
    connection.execute("RESET lock_timeout")
    yield
