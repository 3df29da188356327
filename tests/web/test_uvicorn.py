"""Bounds that only this project's server has, in contrast to uvicorn, on which v01 to v10 run."""

from collections.abc import Iterator

import pytest

from tests.harness.service import CALLBACKS, Service
from tests.harness.sqs_stand_in import SqsStandIn
from tests.web.bounds import BOUNDS, SERVERS, SETTINGS, Bound, Target


@pytest.fixture(scope="module", params=SERVERS, ids=str)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    with (
        SqsStandIn() as sqs,
        Service(sqs.endpoint, sqs.queue_url, release=request.param, **SETTINGS) as service,
    ):
        yield Target(service, sqs, request.param is CALLBACKS)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.attack.__name__)
def test_each_bound(target: Target, bound: Bound) -> None:
    """The table of bounds in docs/history.md has the right outcome of each attack on both servers."""
    assert bound.attack(target) == (bound.ours if target.ours else bound.uvicorn)


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])  # noqa: S104
def test_a_warning_for_other_addresses_than_loopback(host: str, warned: bool) -> None:
    """One line at the start points to the bounds that uvicorn lacks."""
    with SqsStandIn() as sqs, Service(sqs.endpoint, sqs.queue_url, release=SERVERS[0], host=host) as service:
        found = [line["level"] for line in service.lines if "docs/history.md" in line["message"]]
    assert found == (["WARNING"] if warned else [])
