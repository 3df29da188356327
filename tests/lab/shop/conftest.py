"""One Postgres for all tests of the lab's database, one database in it that is filled, and one lab that serves it."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from lab.application.filling.fill import fill
from lab.stand_ins.postgres import Postgres, start
from tests.lab.shop.serving import SCALE, Lab


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with start() as running:
        yield running


@pytest.fixture(scope="session")
def shop(postgres: Postgres) -> str:
    """The URL of a full database."""
    url = _new_database(postgres)
    assert fill(url, SCALE, lambda done: None)
    return url


@pytest.fixture
def empty(postgres: Postgres) -> str:
    """The URL of an empty database, of this test's own."""
    return _new_database(postgres)


@pytest.fixture(scope="session")
def lab(shop: str) -> Iterator[Lab]:
    """Starts a lab on the filled database, with a time-out that is long enough for a slow machine."""
    with Lab(database_url=shop, pool_timeout=60) as running:
        yield running


def _new_database(postgres: Postgres) -> str:
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return postgres.url.rpartition("/")[0] + f"/{name}"
