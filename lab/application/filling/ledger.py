"""How far the filling of a database is: one row in a table of our own, changed in the transaction of what it counts.

It also tells a database of ours from somebody else's shop.
"""

from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.errors import UndefinedColumn

from app.errors import ConfigurationError
from lab.application.filling.rows import Counts
from lab.application.filling.schema import TABLES

LEDGER = "app_lab_filling"
_COLUMNS = (*Counts._fields, "loaded", "finished")
_KINDS = (*(("bigint",) * len(Counts._fields)), "bigint", "integer")


class Done(NamedTuple):
    """`counts`: the rows that there are to be. `loaded`: those there, all tables counted on. `finished`: steps of
    `schema.FINISHES`, and one more once the statistics are made."""

    counts: Counts
    loaded: int
    finished: int


def read(connection: Connection[Any]) -> Done | None:
    """None where the database has none of the tables. Raises ConfigurationError where some are not ours."""
    found = {name for name in (LEDGER, *TABLES) if _exists(connection, name)}
    if not found:
        return None
    if found != {LEDGER, *TABLES}:
        raise _somebody_elses(found - {LEDGER} or found)
    try:
        row = connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM {LEDGER}").fetchone()  # noqa: S608  # constants
    except UndefinedColumn:
        raise _somebody_elses({LEDGER}) from None
    if row is None:
        raise _somebody_elses({LEDGER})
    return Done(Counts(*row[:-2]), *row[-2:])


def create(connection: Connection[Any], counts: Counts) -> Done:
    """All of the tables, empty; in one transaction, so that there are never some of them."""
    with connection.transaction():
        for table, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
        columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in zip(_COLUMNS, _KINDS, strict=True))
        connection.execute(f"CREATE TABLE {LEDGER} ({columns})")
        values = ", ".join(map(str, (*counts, 0, 0)))
        connection.execute(f"INSERT INTO {LEDGER} VALUES ({values})")  # noqa: S608  # numbers
    return Done(counts, 0, 0)


def add(connection: Connection[Any], loaded: int = 0, finished: int = 0) -> None:
    """In the transaction of the caller."""
    connection.execute(
        f"UPDATE {LEDGER} SET loaded = loaded + %s, finished = finished + %s",  # noqa: S608  # a constant
        (loaded, finished),
    )


def _exists(connection: Connection[Any], name: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()
    return row is not None and row[0] is not None


def _somebody_elses(names: set[str]) -> ConfigurationError:
    return ConfigurationError(
        f"APP_LAB_DATABASE_URL: its database has {', '.join(sorted(names))}, not made by the lab; nothing was changed:"
        " allowed is a database without them"
    )
