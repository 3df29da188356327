"""How many threads an endpoint takes, as study 2 counted them, in a process without a request before."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from lab.stand_ins import upstream
from tests.harness.lab import Lab

pytestmark = pytest.mark.slow  # a lab for each

AT_ONCE = 60
TOKENS = 40


def reported(*paths: str) -> dict[str, int]:
    """Returns the report of /threads after AT_ONCE requests at the same time for each path."""
    with (
        upstream.start() as slow,
        Lab(upstream_url=slow.url) as lab,
        lab.client(httpx.Limits(max_connections=None)) as http,
        ThreadPoolExecutor(AT_ONCE) as senders,
    ):
        for path in paths:
            statuses = {answer.status_code for answer in senders.map(http.get, [path] * AT_ONCE)}
            assert statuses == {200}
        report: dict[str, int] = http.get("/threads").json()
    return report


@pytest.mark.parametrize("path", ["/sync_endpoint_sync_processing?ms=300", "/outbound/sync?ms=300&client=shared"])
def test_a_sync_endpoint_takes_a_thread_for_each_token(path: str) -> None:
    """At most 41 threads, as published: anyio's 40, and the thread of the event loop. Further requests wait."""
    report = reported(path)
    assert 1 < report["python_peak"] <= TOKENS + 1
    assert report["os"] >= report["python"]


def test_an_async_endpoint_takes_none() -> None:
    """There is only the loop's thread, as published. A numeric address needs no resolver, which would be a thread."""
    waiting, outbound = "/async_endpoint_async_processing?ms=300", "/outbound/async"
    report = reported(waiting, f"{outbound}?ms=300&client=shared", f"{outbound}?ms=1&client=new")
    assert report["python_peak"] == 1


def test_a_file_that_is_awaited_takes_threads() -> None:
    """`anyio.open_file` makes each call in a thread."""
    assert 1 < reported("/json_file/async")["python_peak"] <= TOKENS + 1
