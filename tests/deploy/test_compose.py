"""compose.yaml on an engine: a webhook, a slow queue, crashes, stops, the whole; no containers left at the end."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest

from local.money_audit import invoices
from tests.deploy.rendering import ROOT
from tests.deploy.stack import USERS, Stack, docker

pytestmark = pytest.mark.timeout(900)  # the images may not be built yet


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Builds the stack once. At the end, no container and no network must remain."""
    if shutil.which("docker") is None:
        pytest.skip("no docker")
    for command in (["info"], ["compose", "version"]):
        tried = subprocess.run(["docker", *command], capture_output=True, encoding="utf-8", check=False)
        if tried.returncode:
            pytest.skip(f"docker {command[0]}: {tried.stderr.strip()}")
    stack = Stack(tmp_path_factory.mktemp("compose"))
    stack.compose("build")
    yield stack
    stack.compose("down")
    ours = f"--filter=label=com.docker.compose.project={stack.name}"
    assert docker("ps", "--all", "--quiet", ours) == docker("network", "ls", "--quiet", ours) == ""


@pytest.fixture
def stack(project: Stack) -> Stack:
    """Starts the stack without a worker, whatever the last test did, and empties the queue."""
    project.compose("up", "--wait", "--scale=worker=0")
    project.taken()
    return project


def test_config_is_clean(project: Stack) -> None:
    """`docker compose config` prints no warning."""
    command = ["docker", "compose", f"--file={ROOT / 'compose.yaml'}", "config", "--quiet"]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_webhook_is_queued(stack: Stack, event: bytes) -> None:
    """A webhook is queued byte for byte as soon as `up --wait` has returned."""
    assert stack.post(event).status_code == 200
    assert stack.taken() == [event]


def test_a_hard_quarter_of_a_core(stack: Stack) -> None:
    """The container has a quarter of a core, 512 MiB without swap, and a read-only root."""
    host = stack.web()["HostConfig"]
    assert host["NanoCpus"] == 250_000_000
    assert host["Memory"] == host["MemorySwap"] == 512 * 1024 * 1024
    assert host["ReadonlyRootfs"]


def test_a_slow_queue(stack: Stack, event: bytes) -> None:
    """Each attempt waits for a slow queue for a third of APP_SQS_TIMEOUT; after all of it, the answer is 503."""
    with stack.slow(0.5):
        answer = stack.post(event)
        assert answer.status_code == 200
        assert answer.elapsed.total_seconds() >= 0.5
    with stack.slow(10):
        answer = stack.post(event)
        assert answer.status_code == 503
        assert 2 <= answer.elapsed.total_seconds() < 5
        assert "Retry-After" in answer.headers
    assert stack.post(event).status_code == 200


def test_a_crash_restarts_the_container(stack: Stack, event: bytes) -> None:
    """After kill -9, Docker starts the process again, and each webhook that got 200 is in the queue."""
    pid = stack.web()["State"]["Pid"]
    host = ["--pid=host", "--user=0"]
    with stack.load(event) as accepted:
        docker("run", "--rm", *host, "--entrypoint=bash", "invoice-webhook:dev", "-c", f"kill -KILL {pid}")
        before = len(accepted)
        while len(accepted) < before + 2 * USERS:  # more than were in flight at the crash
            time.sleep(0.1)
    assert stack.web()["RestartCount"] == 1
    assert accepted <= set(stack.taken())


def test_docker_kill_is_no_crash(stack: Stack, event: bytes) -> None:
    """The container stays down until the next `up`."""
    stack.compose("kill", "web")
    time.sleep(1)
    assert stack.web()["State"]["Status"] == "exited"
    stack.compose("up", "--wait", "--scale=worker=0")
    assert stack.post(event).status_code == 200


def test_a_stop_loses_nothing(stack: Stack, event: bytes) -> None:
    """Under load, the service exits with 0 within its grace period, and each webhook that got 200 is in the queue."""
    with stack.load(event) as accepted:
        stack.compose("stop", "web")
    assert stack.web()["State"]["ExitCode"] == 0
    assert accepted
    assert accepted <= set(stack.taken())


def test_the_whole(stack: Stack) -> None:
    """The worker closes the recurring invoices, with their charges, leaves the other, and exits with 0 at a stop."""
    stack.compose("up", "--wait")
    sent = stack.compose("exec", "-T", "chargebee", "python", "-m", "local", "send", "--seed", "--url=http://web:8000")
    assert "200: " in sent
    deadline = time.monotonic() + 120
    while len(closed := [invoice for invoice in invoices(stack.chargebee) if invoice["stage"] == "closed"]) < 9:
        assert time.monotonic() < deadline, invoices(stack.chargebee)
        time.sleep(0.5)
    assert all(invoice["charges"] for invoice in closed)
    (left,) = [invoice for invoice in invoices(stack.chargebee) if invoice not in closed]
    assert (left["status"], left["charges"]) == ("pending", 0)
    stack.compose("stop", "worker")
    (worker,) = json.loads(docker("inspect", f"{stack.name}-worker-1"))
    assert worker["State"]["ExitCode"] == 0


def test_a_wrong_setting_ends_up(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start fails, and the log has the line that lists the allowed values."""
    monkeypatch.setenv("APP_RELEASE", "v99")
    with pytest.raises(AssertionError, match="web-1"):
        stack.compose("up", "--wait")
    assert "error: APP_RELEASE=v99: allowed is " in stack.compose("logs", "web")
