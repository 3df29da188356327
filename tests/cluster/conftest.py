"""The fixtures: the record of a run, and a test's view of the record."""

import json
from collections.abc import Iterator

import pytest

from loadtest.record import meta
from tests.cluster.cluster import KubectlError, kubectl
from tests.cluster.record import Record, See


def _is_there(*what: str) -> bool:
    try:
        kubectl("get", *what)
    except KubectlError as error:
        if "NotFound" in str(error):
            return False
        raise
    return True


@pytest.fixture(scope="session")
def record() -> Iterator[Record]:
    """Yields the record, and deletes the namespace at the end. Exits if the namespace is not that of overlays/kind."""
    if _is_there("namespace", "invoice-webhook") and not _is_there("deployment", "toxiproxy"):
        pytest.exit("this cluster's namespace invoice-webhook is not overlays/kind: nothing is changed", returncode=2)
    version = json.loads(kubectl("version", "--output", "json"))["serverVersion"]["gitVersion"]
    (node, *others) = json.loads(kubectl("get", "nodes", "--output", "json"))["items"]
    machine = f"{1 + len(others)} × {node['status']['capacity']['cpu']} cores"
    yield Record(version, machine, meta.commit(of_tests=True))
    kubectl("delete", "namespace", "invoice-webhook", "--wait", timeout=300)


@pytest.fixture
def see(record: Record, request: pytest.FixtureRequest) -> Iterator[See]:
    """Records a test's results under the test's name."""
    view = See(record, request.node.name.removeprefix("test_"))
    yield view
    view.end()
