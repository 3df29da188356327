"""docs/questions/use_a_release.md: a release in one's own application, and this service by `uvicorn --factory`."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from app.settings import Release
from loadtest.stage.queues import QueueProcess
from local.ports import free_port
from local.readiness import wait_until_ready
from tests.harness import queues
from tests.harness.service import NO_CAS, PASSWORD, START_SECONDS, USER, environment

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "questions" / "use_a_release.md").read_text(encoding="utf-8")
[DIFF] = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^```console\n(.*)\n```$", PAGE, re.MULTILINE)
RELEASES = (
    Release.V02_BLOCKING,
    Release.V03_THREADPOOL,
    Release.V07_SYNC_HANDLER,
    Release.V09_GROUP_COMMIT,
)


@contextmanager
def followed(command: str, variables: dict[str, str], folder: Path) -> Iterator[str]:
    """Runs a command of the page in `folder`, with a free port, and yields the URL."""
    words = [word for word in shlex.split(command) if not re.match(r"APP_\w+=", word)]
    assert words[0] == ".venv/bin/uvicorn"
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", *words[1:], f"--port={port}"],
        cwd=folder,
        env=variables | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"

    def answered() -> str | None:
        try:
            httpx.get(url, verify=NO_CAS)
        except httpx.ConnectError:
            return None
        return url

    try:
        yield wait_until_ready(process, answered, START_SECONDS)
    finally:
        process.terminate()
        process.wait()


def write(folder: Path, release: Release, without: str) -> None:
    """Copies the release, and writes the application of the page without the lines that begin with `without`."""
    (folder / "release.py").write_bytes((ROOT / "app" / "web" / "releases" / f"{release.value}.py").read_bytes())
    lines = [line[1:] for line in DIFF.splitlines() if not line.startswith(without)]
    assert len(lines) <= 15
    (folder / "mine.py").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_an_own_application(
    aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes, release: Release, tmp_path: Path
) -> None:
    """The webhook gets 200, and the queue has its bytes, which the release's own producer has sent."""
    write(tmp_path, release, without="+")
    variables = environment(aws.endpoint, queue_url)
    variables = {name: value for name, value in variables.items() if "BASIC_AUTH" not in name and name != "APP_PORT"}
    with followed(COMMANDS[0], variables, tmp_path) as url:
        answer = httpx.post(f"{url}/webhooks/chargebee", content=event, timeout=60, verify=NO_CAS)
    assert (answer.status_code, answer.json()["status"]) == (200, "queued")
    assert [body for body, _ in queues.drain(sqs, queue_url)] == [event]


def test_an_own_application_with_refusals(aws: QueueProcess, queue_url: str, tmp_path: Path) -> None:
    """With the lines that have a plus, a body that is no event gets 422, as a problem."""
    write(tmp_path, Release.V07_SYNC_HANDLER, without="-")
    with followed(COMMANDS[0], environment(aws.endpoint, queue_url), tmp_path) as url:
        answer = httpx.post(f"{url}/webhooks/chargebee", content=b"{}", timeout=60, verify=NO_CAS)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_the_factory(aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes, tmp_path: Path) -> None:
    """uvicorn serves v02 with its own options: the service checks credentials, and the queue has the webhook."""
    assert "APP_RELEASE=v02 " in COMMANDS[1]
    assert "--http h11 --loop asyncio" in COMMANDS[1]
    variables = environment(aws.endpoint, queue_url, release="v02")
    with followed(COMMANDS[1], variables, tmp_path) as url:
        unknown = httpx.post(f"{url}/webhooks/chargebee", content=event, timeout=60, verify=NO_CAS)
        known = httpx.post(f"{url}/webhooks/chargebee", content=event, auth=(USER, PASSWORD), timeout=60, verify=NO_CAS)
    assert (unknown.status_code, known.status_code) == (401, 200)
    assert [body for body, _ in queues.drain(sqs, queue_url)] == [event]
