"""Fixtures: one queue process a run (of each xdist worker), one service a release, fresh queues."""

import os
import resource
import signal
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from app.settings import NEWEST, Release
from loadtest.stage.queues import Embedded, QueueProcess, client
from loadtest.stage.stand_in import StandIn
from local.sample_events import SAMPLES
from tests.harness import side_by_side
from tests.harness.elasticmq import ElasticMq
from tests.harness.inline import Billed, Inline, InlineService, open_inline
from tests.harness.queues import Queue, Queued, Serve
from tests.harness.service import Service

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from xdist.remote import Producer


# How long an example takes depends on the machine. With CI set, the examples are the same each time, so that a commit
# fails only for what it changed. Anywhere else, tests try new examples.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("patient")

# One release for each kind of SQS client, the one without any, and the default: for CI.
CLIENT_KINDS = {Release.V01_INLINE, Release.V06_SHARED_QUEUE, Release.V08_NATIVE_ASYNC, NEWEST}

PROCESSES: dict[str, type[Embedded] | type[ElasticMq] | type[StandIn]] = {
    "embedded": Embedded,
    "elasticmq": ElasticMq,
    "stand-in": StandIn,
}


# The tests in `cluster` need a Kubernetes cluster. `make k8s-test` runs them.
collect_ignore = ["cluster"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--queue", choices=sorted(PROCESSES), default="embedded", help="the queue process")
    kinds = ", ".join(sorted(CLIENT_KINDS))
    parser.addoption(
        "--releases",
        choices=["newest", "kinds", "all"],
        default="kinds",
        help=f"what tests of every release run on: the newest, one for each kind of SQS client ({kinds}), or all",
    )


def pytest_configure(config: pytest.Config) -> None:
    """A thousand connections at once need more open files than the usual soft limit allows.

    A script starts background processes with SIGINT ignored, and the commands that tests interrupt would inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    config.addinivalue_line("markers", "newest: runs on the newest release, unless --releases says all")
    config.addinivalue_line("markers", "slow: takes five seconds or more; `make test` leaves it out, CI does not")


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """Restores the handlers of SIGTERM and SIGHUP after each test: commands that run in this process replace them.

    A process that a later test forks would inherit such a handler, and SIGTERM would not end it.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the fixture `release` runs on the releases of --releases, unless it names its own."""
    named = any("release" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "release" not in metafunc.fixturenames or named:
        return
    wanted = metafunc.config.getoption("--releases")
    few = {NEWEST} if wanted == "newest" or metafunc.definition.get_closest_marker("newest") else CLIENT_KINDS
    chosen = [release for release in Release if (wanted == "all" or release in few) and _applies(metafunc, release)]
    metafunc.parametrize("release", chosen, ids=str, indirect=True, scope="session")


def _applies(metafunc: pytest.Metafunc, release: Release) -> bool:
    """Returns whether the test runs on `release`. v01 has no queue, so most tests do not run on it.

    In a module with `ABOUT_SQS`, the tests that this list does not name run on v01, too, for which the embedded AWS has
    the table. Another queue process changes nothing in them, so they run on the newest release only.
    """
    about_sqs = getattr(metafunc.module, "ABOUT_SQS", None)
    if about_sqs is None or metafunc.function.__name__ in about_sqs:
        return release.enqueues
    return metafunc.config.getoption("--queue") == "embedded" or release is NEWEST


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: side_by_side.rank(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> side_by_side.Units:
    return side_by_side.Units(config, log)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Returns whether this is `make test-all`: every release, and several runs of tests that depend on timing."""
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
def inline(aws: QueueProcess) -> Iterator[Inline]:
    """The table and the stand-in for Chargebee, with which v01 works in place of the queue."""
    with open_inline(aws.endpoint) as inline:
        yield inline


@pytest.fixture(scope="session")
def serve(request: pytest.FixtureRequest, aws: QueueProcess, sqs: "SQSClient", release: Release) -> Serve:
    """Returns a function that makes a service of the release and its `Queued`. The first argument names the queue."""

    def made(name: str, **settings: object) -> tuple[Service, Queued]:
        if not release.enqueues:
            inline = InlineService(request.getfixturevalue("inline"), **settings)
            return inline, Billed(inline)
        queue_url = sqs.create_queue(QueueName=f"{name}-{release}")["QueueUrl"]
        return Service(aws.endpoint, queue_url, release=release, **settings), Queue(sqs, queue_url)

    return made


@pytest.fixture(scope="session")
def shared_service(
    serve: Serve,
) -> Iterator[tuple[Service, Queued]]:
    """One service for all tests without settings of their own; its time limits are long enough for a slow machine."""
    service, queued = serve("contract", head_timeout=60, sqs_timeout=60, body_timeout=60, max_wait=0)
    with service:
        yield service, queued


@pytest.fixture
def service(shared_service: tuple[Service, Queued]) -> Service:
    """The shared service; its queue is empty."""
    running, queued = shared_service
    queued.clear()
    return running


@pytest.fixture
def queued(shared_service: tuple[Service, Queued]) -> Queued:
    """The messages in the shared service's queue; reading removes them."""
    return shared_service[1]


@pytest.fixture(scope="session")
def event() -> bytes:
    """The default load-test body."""
    return (SAMPLES / "default.json").read_bytes()
