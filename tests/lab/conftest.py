"""A running lab with one worker, for the tests that change nothing of it."""

from collections.abc import Iterator

import httpx
import pytest

from tests.harness.lab import Lab


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="session")
def http(lab: Lab) -> Iterator[httpx.Client]:
    # No connection is kept, because one that the lab closes between two tests would fail the next test.
    with lab.client(limits=httpx.Limits(max_keepalive_connections=0)) as client:
        yield client
