"""Fills a database with the study's rows in one transaction, so that a run that is killed leaves no rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict

from app.errors import ConfigurationError
from lab.application.filling.filled_rows import RowCounts, lines, scaled
from lab.application.filling.filled_schema import FINISHES, TABLES

CHUNK = 20_000  # rows that are copied between two calls of `progress`; copying them takes some 0.1 s
_CONNECT_SECONDS = 10
_MARK = "Made by the lab of invoice-webhook; users: "


def steps(scale: float) -> int:
    """Returns the number of steps that `fill` reports.

    A step is one row that `fill` copies, or one row that a statement of FINISHES (such as CREATE INDEX) reads.
    """
    counts = scaled(scale)
    return sum(counts) + sum(_rows(counts, finish.table) for finish in FINISHES)


def fill(url: str, scale: float, progress: Callable[[int], object], chunk: int = CHUNK) -> bool:
    """Fills the database at `url` with `scale` times the study's rows.

    Returns False if the database has all rows already. `progress` gets the number of steps (see `steps`) since its last
    call. Raises ConfigurationError if the database cannot be reached or was filled at another scale, or if another
    program has created tables with the study's names.
    """
    counts = scaled(scale)
    with _connected(url) as connection:
        if _is_full(connection, counts):
            return False
        # With this setting, the server notices a killed client even while it makes an index.
        connection.execute("SET client_connection_check_interval = '1s'")
        for table, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            _load(connection, table, counts, progress, chunk)
        for finish in FINISHES:
            connection.execute(finish.statement.encode())
            progress(_rows(counts, finish.table))
        for table in TABLES:
            connection.execute(f"COMMENT ON TABLE {table} IS '{_MARK}{counts.users}'".encode())
            connection.execute(f"ANALYZE {table}".encode())
    return True


def _is_full(connection: Connection[Any], counts: RowCounts) -> bool:
    """Returns True if the lab has filled the database with `counts`, and False if no table of the study exists.

    Raises ConfigurationError if the number of users differs, or if the lab did not create the tables.
    """
    described = "SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass(%s)"
    found = [row for name in TABLES if (row := connection.execute(described, (name,)).fetchone())]
    if strangers := [name for name, mark in found if not (mark or "").startswith(_MARK)]:
        raise ConfigurationError(
            f"APP_LAB_DATABASE_URL: its database has {', '.join(sorted(strangers))}, not made by the lab; nothing was"
            " changed: allowed is a database without them"
        )
    users = {int(mark.removeprefix(_MARK)) for _, mark in found}
    if users - {counts.users}:
        raise ConfigurationError(
            f"APP_LAB_DATABASE_URL: its database was filled with {min(users):,} users, at scale"
            f" {min(users) / RowCounts().users:g}: allowed is that scale, or an empty database"
        )
    return bool(found)


def _load(
    connection: Connection[Any], table: str, counts: RowCounts, progress: Callable[[int], object], chunk: int
) -> None:
    """Copies a table's rows to the database. With FREEZE, the first SELECT writes no hint bits."""
    statement = sql.SQL("COPY {} FROM STDIN WITH (FREEZE)").format(sql.Identifier(table))
    rows = _rows(counts, table)
    with connection.cursor().copy(statement) as copy:
        for first in range(1, rows + 1, chunk):
            last = min(first + chunk - 1, rows)
            copy.write(lines(table, first, last, counts))
            progress(1 + last - first)


def _rows(counts: RowCounts, table: str) -> int:
    rows: int = getattr(counts, table)
    return rows


@contextmanager
def _connected(url: str) -> Iterator[Connection[Any]]:
    """Yields a connection, and commits at the end. Raises ConfigurationError if Postgres fails."""
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # the error's message contains the password
        raise ConfigurationError("APP_LAB_DATABASE_URL=(hidden): allowed is a postgresql URL") from None
    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            yield connection
    except psycopg.Error as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigurationError(
            f"APP_LAB_DATABASE_URL: {reason}: allowed is a Postgres that can be reached and written"
            " (`python -m lab postgres` starts one)"
        ) from None
