"""Tests what the endpoints of `database` and `orders` answer, also if Postgres or a pool does not serve them."""

import signal
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from lab.application.fibonacci import fibonacci
from lab.application.filling.fill import fill
from lab.stand_ins.postgres import Postgres
from tests.harness.processes import alive
from tests.harness.service import NO_CAS
from tests.lab.shop.serving import SECONDS, Lab, problem

SELECTS = ("/sync_select", "/async_select")
POOLED = "/orders/async_process_pool"
ORDERS = ("/orders/async", "/orders/async_to_thread", "/orders/sync", "/orders/sync_shared_threads", POOLED)
BUYER, PIECES = 15, 102  # of the shop at this scale


@pytest.mark.parametrize("path", SELECTS)
def test_a_select(lab: Lab, path: str) -> None:
    """The answer is a random row of `users`."""
    users = [lab.get(path).json() for _ in range(5)]
    assert all(user["email"] == f"user_{user['id']}@example.com" for user in users)
    assert len({user["id"] for user in users}) > 1


def test_all_ways_agree(lab: Lab) -> None:
    one, *others = [lab.get(path, user_id=BUYER, fib=18).json() for path in ORDERS]
    assert others == [one] * 4
    assert list(one) == ["user_id", "products", "orders", "quantity", "fibonacci"]
    assert (one["user_id"], one["quantity"], one["fibonacci"]) == (BUYER, PIECES, 2584)
    assert sum(product["quantity"] for product in one["products"]) == PIECES
    assert sum(order["quantity"] or 0 for order in one["orders"]) == PIECES


@pytest.mark.parametrize("path", ORDERS)
def test_a_random_user(lab: Lab, path: str) -> None:
    """The user is random, and may have no orders. Fibonacci's argument is the number of pieces, but at most `fib`."""
    found: list[dict[str, Any]] = []
    while {bool(one["quantity"]) for one in found} != {True, False}:
        found.append(lab.get(path).json())
    assert all(1 <= one["user_id"] <= 1000 for one in found)
    assert all(one["fibonacci"] == fibonacci(min(one["quantity"], 20)) for one in found)


@pytest.mark.parametrize("path", ORDERS)
@pytest.mark.parametrize(
    ("query", "bound"),
    [
        ("fib=36", {"le": 35}),
        ("fib=-1", {"ge": 0}),
        ("fib=x", None),
        ("user_id=0", {"ge": 1}),
        ("user_id=1001", {"le": 1000}),
        ("user_id=9223372036854775808", {"le": 2**63 - 1}),  # Postgres's largest bigint
    ],
)
def test_bad_parameters(lab: Lab, path: str, query: str, bound: dict[str, int] | None) -> None:
    """The answer is 422 with the parameter and its bound. The highest user_id is the number of users in the table."""
    response = lab.client.get(f"{path}?{query}")
    assert response.status_code == 422
    (error,) = response.json()["detail"]
    assert error["loc"] == ["query", query.partition("=")[0]]
    assert error.get("ctx") == bound


def test_without_a_database() -> None:
    """The lab starts, and each answer says what to do."""
    with Lab() as lab:
        for path in (*SELECTS, *ORDERS):
            assert "APP_LAB_DATABASE_URL is not set" in problem(lab.get(path))


@pytest.mark.slow
def test_an_empty_database(empty: str) -> None:
    """If the database is empty, or its filling was interrupted, each answer says what to do."""
    with Lab(database_url=empty) as lab:
        assert "python -m lab setup" in problem(lab.get(SELECTS[0]))
        with pytest.raises(ZeroDivisionError):
            fill(empty, 0.0001, lambda done: 1 / 0)
        for path in (*SELECTS, *ORDERS):
            assert "python -m lab setup" in problem(lab.get(path))
        fill(empty, 0.0001, lambda done: None)
        for path in (*SELECTS, *ORDERS):
            assert lab.get(path).status_code == 200


@pytest.mark.slow
def test_an_outage(empty: str, postgres: Postgres, capfd: pytest.CaptureFixture[str]) -> None:
    """The lab starts while Postgres accepts no connection, and answers whenever Postgres does, also after an outage."""
    fill(empty, 0.0001, lambda done: None)
    name = empty.rpartition("/")[2]
    with psycopg.connect(postgres.url, autocommit=True) as owner:

        def let_in(whether: bool) -> None:
            owner.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {whether}".encode())
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))

        with Lab(database_url=empty, pool_timeout=0.3) as lab:
            for whether, status in ((False, 503), (True, 200), (False, 503), (True, 200)):
                let_in(whether)
                for path in (*SELECTS, *ORDERS):
                    assert status == 200 or "APP_LAB_DATABASE_URL" in problem(lab.until(503, path))
                    lab.until(status, path)
    said = capfd.readouterr().err
    assert "not currently accepting connections" in said
    assert str(urlsplit(empty).password) not in said


@pytest.mark.slow
def test_a_full_pool(shop: str) -> None:
    """A request that waits too long for the only connection gets 503. The request that has it gets its answer."""
    with Lab(database_url=shop, pool_size=1, pool_timeout=0.2) as lab, ThreadPoolExecutor() as threads:
        for path in SELECTS:
            lab.until(200, path)
            with psycopg.connect(shop) as holder:
                holder.execute("LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
                asked = [threads.submit(lab.get, path) for _ in range(3)]
                refused = [problem(one.result()) for one in islice(as_completed(asked), 2)]
            assert all("APP_LAB_POOL_SIZE" in detail for detail in refused)
            assert sorted(one.result().status_code for one in asked) == [200, 503, 503]


@pytest.mark.slow
def test_a_full_pool_of_processes(shop: str) -> None:
    """One request computes and one is next. The others get 503 instead of waiting without end."""
    with Lab(database_url=shop, processes=1, pool_timeout=6) as lab, ThreadPoolExecutor() as threads:
        lab.until(200, POOLED)
        (process,) = lab.of_the_pool()
        process.suspend()
        asked = [threads.submit(lab.get, POOLED) for _ in range(4)]
        refused = [problem(one.result()) for one in islice(as_completed(asked), 2)]
        process.resume()
        assert all("APP_LAB_PROCESSES" in detail for detail in refused)
        assert sorted(one.result().status_code for one in asked) == [200, 200, 503, 503]


@pytest.mark.slow
def test_a_killed_process(shop: str) -> None:
    """The pool starts a new process."""
    with Lab(database_url=shop, processes=1, pool_timeout=60) as lab:
        lab.until(200, POOLED)
        (before,) = lab.of_the_pool()
        before.kill()
        assert lab.until(200, POOLED, user_id=BUYER, fib=20).json()["fibonacci"] == 6765
        (after,) = lab.of_the_pool()
        assert after != before


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left(shop: str, sig: signal.Signals) -> None:
    """After the signal, a lab with two workers and their pools leaves no process."""
    with Lab(["--workers", "2"], database_url=shop) as lab:
        for _ in range(4):
            # A connection each, so that both workers get some.
            assert httpx.get(lab.url + POOLED, verify=NO_CAS, timeout=SECONDS).status_code == 200
        family = lab.family()
        lab.process.send_signal(sig)
        assert alive(family) == []
