"""Starting a real process: what stops the start, and uvicorn's own bound."""

import signal
import socket
import subprocess
import sys
import time

from loadtest.stage.ports import free_port
from loadtest.stage.queues import QueueProcess
from tests.harness.raw import RawSender
from tests.harness.service import Service, environment


def test_aws_without_a_region(queue_url: str) -> None:
    """One line, exit code 2, before anything listens."""
    settings = environment("http://127.0.0.1:9", queue_url)
    del settings["AWS_DEFAULT_REGION"]
    command = [sys.executable, "-m", "app", "web"]
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "error: AWS_DEFAULT_REGION is not set: allowed is a region, as in eu-central-1\n"


def test_two_at_the_same_moment(aws: QueueProcess, queue_url: str) -> None:
    """Of two services that bind the same port, at most one starts, and the other reports it."""
    command = [sys.executable, "-m", "app", "web"]
    settings = environment(aws.endpoint, queue_url, port=free_port())
    both = [subprocess.Popen(command, env=settings, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    while all(process.poll() is None for process in both):
        time.sleep(0.01)
    loser, winner = sorted(both, key=lambda process: process.poll() is None)
    assert loser.wait() == 2
    assert "cannot listen there" in loser.communicate()[1]
    assert winner.stderr is not None
    said = next((line for line in winner.stderr if "listen" in line.lower()), "")
    winner.send_signal(signal.SIGINT)
    winner.communicate(timeout=60)
    # Linux lets both lose, once in some 20,000 times: each finds the other already on its way to listening.
    assert winner.returncode == 0 or "cannot listen there" in said


def test_a_port_that_is_taken(aws: QueueProcess, queue_url: str) -> None:
    """One line that names the variables, and exit code 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "app", "web"]
        ended = subprocess.run(
            command, env=environment(aws.endpoint, queue_url, port=port), capture_output=True, text=True, check=False
        )
    assert ended.returncode == 2
    [line] = ended.stderr.splitlines()
    assert f"APP_HOST=127.0.0.1, APP_PORT={port}: cannot listen there" in line


def test_uvicorns_own_bound(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """APP_LIMIT_CONCURRENCY is uvicorn's: 503 as text/plain, for probes too."""
    with Service(aws.endpoint, queue_url, limit_concurrency=2) as service, RawSender(service.address) as sender:
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        sender.wait_until_read()
        with service.client() as client:
            response = client.get("/healthz")
    assert response.status_code == 503
    assert response.headers["content-type"].startswith("text/plain")
