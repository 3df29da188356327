"""The cases of each study. A study has the same name as its module in lab/application."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from lab.measurement.case import EndpointCase, users
from loadtest.calibrated import dilated, fitted
from loadtest.record.shapes import Load

# Published: 5 s for each of three tasks. Here, each task takes 1 s, and the number of users is the same.
TASK_MS = "1000"
# Published: 10,000 virtual users.
SLEEPERS = 2000
# The time-out of k6, which study 3 used. The time-outs of the other studies were 30 s, or longer than any answer took.
K6_TIMEOUT_S = 60
THREADS = {"APP_LAB_THREADPOOL_TOKENS": "200"}  # as published
FIB = ("15", "20", "25", "30")
# As published, all requests are for one user. (More than a third of all users have ordered nothing.)
BUYER = "29"  # has ordered at least 35 pieces, so enough for each FIB, at scales of 0.001 and 0.01
WORKERS = (1, 2, 4)


def do_nothing() -> Iterator[EndpointCase]:
    """The talk's appendix: ten endpoints, each under two loads, and one of them also with a single thread.

    One load is a closed loop of 64 users, on a quarter of a core. The other is the published open loop of 500 requests
    a second, on at most one core. The rate and the times of the open loop are scaled, so that this machine seems as
    fast as the published machine (see `loadtest.calibrated`).
    """
    paths = [f"do-nothing-{kind}{what}" for what in ("", "-body", "-model-body", "-http") for kind in ("sync", "async")]
    paths += ["do-something-sync", "do-something-async"]
    quick = ("do-nothing-sync", "do-nothing-sync-http")
    yield from (_post(path, path, users(64, 5), "capped", quick=path in quick) for path in paths)
    yield _one_thread(_post("do-nothing-sync", "do-nothing-sync", users(64, 5), "capped"))
    factor, overhead = fitted()
    for path in paths:
        case = _post(f"{path}, published time", path, dilated(factor), "burst")
        yield replace(case, variables=case.variables | {"APP_LAB_REQUEST_OVERHEAD_MS": f"{overhead:.2f}"})


def _post(name: str, path: str, load: Load, budget: str, *, quick: bool = False) -> EndpointCase:
    something = path.startswith("do-something")
    query = {"key": "lab"} if something else {}
    body = something or "body" in path
    return EndpointCase(
        name, f"/{path}", load, query, method="POST", body=body, budget=budget, variables=THREADS, quick=quick
    )


def three_tasks() -> Iterator[EndpointCase]:
    """Study 1: two workers, 500 users."""
    for path in ("sync_baseline", "async_independent", "async_dependent", "async_concurrent"):
        quick = path in ("async_independent", "async_concurrent")
        yield EndpointCase(path, f"/{path}", users(500, 15), {"ms": TASK_MS}, workers=2, quick=quick)


def outbound() -> Iterator[EndpointCase]:
    """Study 2: calls of a service that takes one second, with 500 users and one worker; and reading a file.

    Each request makes a new client, as published, or all requests share one.
    """
    for client, path in product(("new", "shared"), ("sync", "async", "async_sync_client")):
        query = {"ms": "1000", "client": client}
        yield EndpointCase(
            f"{path}, {client} client", f"/outbound/{path}", users(500, 20), query, quick=client == "new"
        )
    for path in ("sync", "async"):
        yield EndpointCase(f"json_file, {path}", f"/json_file/{path}", users(64, 5))


def blocking() -> Iterator[EndpointCase]:
    """Study 3: one second of sleep, awaited or in threads; or half of it awaited, and half of it blocking."""
    awaited, threaded = "async_endpoint_async_processing", "sync_endpoint_sync_processing"
    for path in (awaited, threaded):
        yield _sleep(path, "1000", 1, 500)
        yield from (_sleep(path, "1000", workers, SLEEPERS) for workers in WORKERS)
    for path, workers in product(("sync_endpoint_mix_processing", "async_endpoint_mix_processing"), (1, 4)):
        yield _sleep(path, "500", workers, SLEEPERS)


def _sleep(path: str, ms: str, workers: int, number: int) -> EndpointCase:
    name = f"{path}, {_workers(workers)}, {number:,} users"
    load = users(number, 10, K6_TIMEOUT_S)
    return EndpointCase(name, f"/{path}", load, {"ms": ms}, workers=workers, quick=number < SLEEPERS)


def database() -> Iterator[EndpointCase]:
    """Study 3: a SELECT of one row by its id, with 100 users."""
    for path, workers in product(("sync_select", "async_select"), WORKERS):
        name = f"{path}, {_workers(workers)}"
        yield EndpointCase(name, f"/{path}", users(100, 5), workers=workers, database=True, quick=workers == 1)
    yield _one_thread(EndpointCase("sync_select, 1 worker", "/sync_select", users(100, 5), database=True))


def orders() -> Iterator[EndpointCase]:
    """Study 3: two queries, a data frame and a computation.

    The number of users, 31, follows from the published figures by Little's law.

    The connection pool's time-out of 60 s is longer than the client's time-out of 30 s. As in the study, this pool
    therefore rejects no request for which a client still waits. With two workers, only the published endpoints are
    measured.
    """
    one = product((1,), FIB, ("async", "async_to_thread", "sync", "async_process_pool"))
    for workers, fib, path in (*one, *product((2,), FIB, ("async", "sync"))):
        yield _order(path, fib, workers, quick=(workers, fib) == (1, "20") and path in ("sync", "async"))
    shared = _order("sync_shared_threads", "15", 1)
    yield from (shared, _one_thread(shared), _one_thread(_order("sync", "15", 1)))


def _order(path: str, fib: str, workers: int, *, quick: bool = False) -> EndpointCase:
    return EndpointCase(
        f"{path}, fib {fib}, {_workers(workers)}",
        f"/orders/{path}",
        users(31, 5),
        {"fib": fib, "user_id": BUYER},
        workers=workers,
        variables={"APP_LAB_POOL_TIMEOUT": "60"},
        database=True,
        quick=quick,
    )


def refusals() -> Iterator[EndpointCase]:
    """Tips about rejecting requests: a thousand users, each request on a new connection."""
    variants = {"backlog 2048": {}, "backlog 16": {"APP_LAB_BACKLOG": "16"}}
    variants |= {"limit-concurrency 100": {"APP_LAB_LIMIT_CONCURRENCY": "100"}}
    for name, variables in variants.items():
        load = users(1000, 3, keepalive=False)
        yield EndpointCase(name, "/tips/nothing", load, method="POST", variables=variables)


def _one_thread(case: EndpointCase) -> EndpointCase:
    """Returns the case with a single thread, which shows what a thread costs if no others run at the same time."""
    variables = case.variables | {"APP_LAB_THREADPOOL_TOKENS": "1"}
    return replace(case, name=f"{case.name}, 1 thread", variables=variables, quick=False)


def _workers(number: int) -> str:
    return "1 worker" if number == 1 else f"{number} workers"


# The studies, in the order in which they are measured. `tips` also includes the duets of `lab.measurement.duets`.
STUDIES = {
    "do_nothing": do_nothing,
    "three_tasks": three_tasks,
    "outbound": outbound,
    "blocking": blocking,
    "database": database,
    "orders": orders,
    "tips": refusals,
}
