"""The filling of a database: it makes the rows of the study once, all of them or none."""

import subprocess
import sys
from typing import Any

import psycopg
import pytest

from app.errors import ConfigurationError
from lab.application.filling.fill import fill, steps
from lab.application.filling.schema import TABLES
from tests.lab.shop.serving import SCALE, SECONDS, command

KILLED = """
import os, signal, sys
from lab.application.filling.fill import fill
calls = 0
def progress(done):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
fill(sys.argv[1], 0.001, progress, chunk=1000)
"""
_ROWS = "SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY id)) FROM {} t"
_NUMBERS = "SELECT count(*), min(id), max(id) FROM {}"
_KEYS = "SELECT count(*) FROM pg_constraint WHERE contype IN ('f', 'p', 'u') AND connamespace = 'public'::regnamespace"


def ask(url: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode()).fetchall()


def everything(url: str) -> list[Any]:
    """Returns digests of the rows of all tables, and the indexes and keys."""
    digests = [ask(url, _ROWS.format(table)) for table in TABLES]
    indexes = ask(url, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1")
    keys = ask(url, "SELECT conname, convalidated FROM pg_constraint WHERE contype = 'f' ORDER BY 1")
    return [*digests, indexes, keys]


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


@pytest.mark.parametrize("call", [1, 12, 24])
def test_a_killed_filling_leaves_nothing(shop: str, empty: str, call: int) -> None:
    """A filling that is killed in users, items or indexes leaves nothing, and the next run makes the same rows."""
    with subprocess.Popen([sys.executable, "-c", KILLED, empty, str(call)]) as process:
        assert process.wait(SECONDS) == -9
    done: list[int] = []
    assert fill(empty, SCALE, done.append, chunk=1000)
    assert sum(done) == steps(SCALE)
    assert everything(empty) == everything(shop)


def test_a_full_database(shop: str) -> None:
    """The command says that the database is full, and changes nothing."""
    before = everything(shop)
    done = command("setup", "--scale", str(SCALE), database_url=shop)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "It is full already, at scale 0.001: nothing to do"
    assert everything(shop) == before


def test_another_scale(shop: str) -> None:
    with pytest.raises(ConfigurationError, match=r"filled with 1,000 users, at scale 0\.001"):
        fill(shop, 0.002, lambda done: None)


@pytest.mark.parametrize("made", ["TABLE users (id int)", "VIEW orders AS SELECT 1"])
def test_somebody_elses_tables(empty: str, made: str) -> None:
    """The command rejects the database, and changes nothing."""
    with psycopg.connect(empty) as connection:
        connection.execute(f"CREATE {made}".encode())
    relations = "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'public'"
    before = ask(empty, relations)
    done = command("setup", database_url=empty)
    assert done.returncode == 2
    assert "not made by the lab; nothing was changed" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert ask(empty, relations) == before


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://me:s3cret@127.0.0.1:1/shop", "Connection refused"),
        ("postgresql://me:half@s3cret@127.0.0.1:1/shop", "(hidden)"),
        ("postgresql://me:s3cret@127.0.0.1:1/shop?colour=blue", "(hidden)"),
        ("mysql://me:s3cret@127.0.0.1:1/shop", "(hidden)"),
        ("", "is not set"),
    ],
)
def test_no_database(url: str, reason: str) -> None:
    """The error is one line, and does not show the password."""
    done = command("setup", database_url=url)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: APP_LAB_DATABASE_URL")
    assert reason in done.stderr
    assert "s3cret" not in done.stderr
