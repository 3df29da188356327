"""Decides which tests share a worker of xdist, and which tests start first.

It is a scheduler of our own, because with pytest 9.2, `--dist loadgroup` of xdist 3.8 groups nothing (pytest-xdist's
issue 1386).
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from app.settings import Release

# These modules start first, in this order, the longest first, so that at the end, no worker is busy while others wait.
FIRST = [
    "tests/test_documents.py",
    "tests/web/test_contract.py",
    "tests/web/test_schemathesis.py",
    "tests/web/server/test_deadlines.py",
    "tests/web/server/test_bounds.py",
    "tests/web/server/test_smuggling.py",
    "tests/web/test_inline.py",
]
# All tests of an entry share one expensive fixture: a measurement, a rendering, a browser, a Postgres, a slow service.
TOGETHER = (
    *("tests/loadtest/test_inline.py", "tests/loadtest/test_deliveries.py", "tests/loadtest/fire/test_person.py"),
    *("tests/deploy/", "tests/worker/test_from_webhook.py", "tests/worker/test_beside.py"),
    "tests/worker/test_whose_usage.py",
    *(f"tests/web/server/test_{name}.py" for name in ("deadlines", "bounds", "smuggling")),
    *("tests/web/test_docs.py", "tests/web/test_inline.py", "tests/local/test_seeding.py"),
    "tests/lab/test_filling.py",
)
# All tests of these modules share one service of each release.
BY_RELEASE = ("tests/web/test_contract.py", "tests/web/test_schemathesis.py")


def rank(nodeid: str) -> int:
    """Returns the rank of a test. Tests with a smaller rank start earlier."""
    module = nodeid.partition("::")[0]
    return FIRST.index(module) if module in FIRST else len(FIRST)


def unit(nodeid: str) -> str:
    """Returns the name of the unit to which a test belongs. A test that shares nothing is a unit with its own id."""
    if nodeid.startswith(BY_RELEASE):
        return next((release.value for release in Release if release.value in nodeid), nodeid)
    return next((shared for shared in TOGETHER if nodeid.startswith(shared)), nodeid)


class Units(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Assigns units in the order of the tests, each unit to the worker with the least remaining work."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
