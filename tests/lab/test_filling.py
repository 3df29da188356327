"""The filling of a database: it makes the rows of the study once, all of them or none."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from lab.application.filling.fill import fill
from lab.application.filling.filled_schema import TABLES
from lab.stand_ins.postgres import Postgres, start
from tests.harness.service import clean_environment

_NUMBERS = "SELECT count(*), min(id), max(id) FROM {}"
_KEYS = "SELECT count(*) FROM pg_constraint WHERE contype IN ('f', 'p', 'u') AND connamespace = 'public'::regnamespace"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with start() as running:
        yield running


@pytest.fixture(scope="module")
def shop(postgres: Postgres) -> str:
    """The URL of a full database."""
    url = _new_database(postgres)
    assert fill(url, 0.001, lambda done: None)
    return url


def _new_database(postgres: Postgres) -> str:
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return postgres.url.rpartition("/")[0] + f"/{name}"


def ask(url: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode()).fetchall()


def test_the_studys_rows(shop: str) -> None:
    """There are a thousandth of the study's rows. The items belong to the first fifth of the orders."""
    counts = [ask(shop, _NUMBERS.format(table)) for table in TABLES]
    assert counts == [[(1000, 1, 1000)], [(100, 1, 100)], [(5000, 1, 5000)], [(10_000, 1, 10_000)]]
    ((orders, highest, fewest, most),) = ask(
        shop, "SELECT count(DISTINCT order_id), max(order_id), min(quantity), max(quantity) FROM order_items"
    )
    assert (orders, highest, fewest, most) == (1000, 1000, 1, 5)
    assert ask(shop, _KEYS) == [(8,)]


def test_users_with_nothing(shop: str) -> None:
    """As in the study, about 37 % of the users (1/e) have no items."""
    bought = "SELECT count(DISTINCT user_id) FROM orders JOIN order_items ON order_id = orders.id"
    assert 600 < ask(shop, bought)[0][0] < 670


@pytest.mark.parametrize("made", ["TABLE users (id int)", "VIEW orders AS SELECT 1"])
def test_somebody_elses_tables(postgres: Postgres, made: str) -> None:
    """The command rejects the database, and changes nothing."""
    empty = _new_database(postgres)
    with psycopg.connect(empty) as connection:
        connection.execute(f"CREATE {made}".encode())
    relations = "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'public'"
    before = ask(empty, relations)
    environment = clean_environment(lab_database_url=empty)
    command = [sys.executable, "-m", "lab", "setup"]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 2
    assert "not made by the lab; nothing was changed" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert ask(empty, relations) == before
