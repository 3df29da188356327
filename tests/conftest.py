"""Fixtures: one queue process a run (of each xdist worker), one service a release, fresh queues."""

import resource
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from app.local.sample_events import SAMPLES
from app.settings import NEWEST, Release
from loadtest.stage.queues import PROCESSES, QueueProcess, client
from tests.harness import queues, side_by_side
from tests.harness.service import Service

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from xdist.remote import Producer


# The time of an example, and so their number per second, depends on the machine.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# One release for each kind of SQS client, and the default: what `make test` runs the contract on.
CLIENT_KINDS = {Release.V06_SHARED_QUEUE, Release.V08_NATIVE_ASYNC, NEWEST}


# They need a Kubernetes cluster: `make k8s-test` names them.
collect_ignore = ["cluster"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--queue", choices=sorted(PROCESSES), default="embedded", help="the queue process")
    kinds = ", ".join(sorted(CLIENT_KINDS))
    parser.addoption(
        "--releases",
        choices=["kinds", "all"],
        default="kinds",
        help=f"what tests of every release run on: all of them, or one for each kind of SQS client ({kinds})",
    )


def pytest_configure(config: pytest.Config) -> None:
    """A thousand connections at once need more open files than the usual soft limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    config.addinivalue_line("markers", "newest: runs on the newest release, unless --releases says all")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the fixture `release` runs on the releases of --releases, unless it names its own."""
    named = any("release" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "release" not in metafunc.fixturenames or named:
        return
    everything = metafunc.config.getoption("--releases") == "all"
    few = {NEWEST} if metafunc.definition.get_closest_marker("newest") else CLIENT_KINDS
    chosen = [release for release in Release if everything or release in few]
    metafunc.parametrize("release", chosen, ids=str, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: side_by_side.rank(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> side_by_side.Units:
    return side_by_side.Units(config, log)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether this is `make test-all`: every release, and several runs of tests that depend on timing."""
    return bool(request.config.getoption("--releases") == "all")


@pytest.fixture(scope="session")
def queue_kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.config.getoption("--queue")
    return kind


@pytest.fixture(scope="session")
def aws(queue_kind: str) -> Iterator[QueueProcess]:
    """A queue process for all tests."""
    process = PROCESSES[queue_kind]()
    process.start()
    yield process
    process.kill()


@pytest.fixture
def restartable_aws(queue_kind: str) -> Iterator[QueueProcess]:
    """A queue process that a test may kill and start again."""
    process = PROCESSES[queue_kind]()
    process.start()
    yield process
    process.kill()


@pytest.fixture(scope="session")
def sqs(aws: QueueProcess) -> Iterator["SQSClient"]:
    oracle = client(aws.endpoint)
    yield oracle
    oracle.close()


@pytest.fixture
def queue_url(sqs: "SQSClient") -> str:
    """A queue of this test's own."""
    return sqs.create_queue(QueueName=f"test-{uuid.uuid4().hex}")["QueueUrl"]


@pytest.fixture(scope="session")
def release(request: pytest.FixtureRequest) -> Release:
    release: Release = request.param
    return release


@pytest.fixture(scope="session")
def shared_service(aws: QueueProcess, sqs: "SQSClient", release: Release) -> Iterator[tuple[Service, str]]:
    """One service for all tests without settings of their own; its time limits are long enough for a slow machine."""
    queue_url = sqs.create_queue(QueueName=f"contract-{release}")["QueueUrl"]
    with Service(aws.endpoint, queue_url, release=release, sqs_timeout=60, body_timeout=60, max_wait=0) as service:
        yield service, queue_url


@pytest.fixture
def service(shared_service: tuple[Service, str], sqs: "SQSClient") -> Service:
    """The shared service; its queue is empty."""
    running, queue_url = shared_service
    queues.drain(sqs, queue_url)
    return running


@pytest.fixture
def queued(shared_service: tuple[Service, str], sqs: "SQSClient") -> "Queued":
    """The messages in the shared service's queue; reading removes them."""
    return Queued(sqs, shared_service[1])


class Queued:
    def __init__(self, sqs: "SQSClient", queue_url: str) -> None:
        self._sqs = sqs
        self._url = queue_url

    def messages(self) -> list[tuple[bytes, dict[str, str]]]:
        return queues.drain(self._sqs, self._url)

    def bodies(self) -> list[bytes]:
        return [body for body, _ in self.messages()]


@pytest.fixture(scope="session")
def event() -> bytes:
    """The default load-test body."""
    return (SAMPLES / "default.json").read_bytes()
