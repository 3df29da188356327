"""Each client gets 503 with advice if the upstream is missing, does not answer, is too slow or fails."""

import socket

import pytest

from lab.stand_ins import upstream
from tests.harness.lab import Lab

pytestmark = pytest.mark.slow  # a lab for each

GETS = [
    f"/outbound/{way}?ms=10000&client={client}"
    for way in ("sync", "async", "async_sync_client")
    for client in ("new", "shared")
]
POSTS = ["/do-nothing-sync-http", "/do-nothing-async-http"]


def refusals(lab: Lab, paths: list[str]) -> list[str]:
    """Returns the details of the answers to these requests, all of which must be 503."""
    with lab.client() as http:
        answers = [http.post(path) if path in POSTS else http.get(path) for path in paths]
    for answer in answers:
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert answer.headers["retry-after"] == "1"
    return [answer.json()["detail"] for answer in answers]


def test_nobody_there() -> None:
    """No process listens on the upstream's port."""
    with Lab(upstream_url="http://127.0.0.1:9") as lab:
        details = refusals(lab, [*GETS, *POSTS])
    assert all(detail.startswith("the upstream at http://127.0.0.1:9 has not answered") for detail in details)


def test_too_slow() -> None:
    """The upstream takes longer than APP_LAB_UPSTREAM_TIMEOUT, or accepts connections and never answers."""
    with upstream.start() as slow, Lab(upstream_url=slow.url, upstream_timeout=0.2) as lab:
        assert all("within 0.2 s (APP_LAB_UPSTREAM_TIMEOUT)" in detail for detail in refusals(lab, GETS))
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Lab(upstream_url=f"http://127.0.0.1:{silent.getsockname()[1]}", upstream_timeout=0.2) as lab,
    ):
        refusals(lab, [*GETS, *POSTS])


def test_an_upstream_that_fails(lab: Lab) -> None:
    """The upstream answers with another status than 200, because it does not have the path."""
    with Lab(upstream_url=f"{lab.url}/missing") as other:
        details = refusals(other, [*GETS, *POSTS])
    assert all("404" in detail for detail in details)
