"""Tests docs/questions/use_a_release.md: a release in the reader's own application, and `uvicorn --factory`."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from app.settings import Release
from loadtest.stage.queues import QueueProcess
from local.ports import free_port
from local.readiness import wait_until_ready
from local.seeding import seed
from tests.harness import queues
from tests.harness.inline import Inline
from tests.harness.service import NO_CAS, PASSWORD, START_SECONDS, USER, environment

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "questions" / "use_a_release.md").read_text(encoding="utf-8")
[DIFF] = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
[LIFESPAN] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COPY, SERVE, FACTORY = re.findall(r"^```console\n(.*)\n```$", PAGE, re.MULTILINE)
# An application of a reader who has a lifespan and a state already.
BEFORE = 'mine = {"mine": "here"}'
AFTER = """
app.state.service = "the reader's"


@app.get("/mine")
def read(request: Request) -> str:
    return request.state.mine
"""
RELEASES = (
    Release.V02_BLOCKING,
    Release.V03_THREADPOOL,
    Release.V07_SYNC_HANDLER,
    Release.V09_GROUP_COMMIT,
)


@contextmanager
def followed(command: str, variables: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Runs a command of the page in `folder`, with a free port, and yields the URL. `folder/stderr` has the log."""
    words = [word for word in shlex.split(command) if not re.match(r"APP_\w+=", word)]
    assert words[0] == ".venv/bin/uvicorn"
    port = free_port()
    with (folder / "stderr").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", *words[1:], f"--port={port}"],
            cwd=folder,
            env=variables,
            stderr=log,
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


def write(folder: Path, release: Release, without: str, lifespan: bool = False) -> None:
    """Copies the files that the page names into `folder`, and writes the application of the page to mine.py.

    `without`: "+" writes the application as it was before the page's diff, "-" as it is afterwards. `lifespan`: the
    application also has its own lifespan, which enters the release's lifespan, as on the page.
    """
    command = COPY.replace(Release.V07_SYNC_HANDLER, release)
    subprocess.run(command, shell=True, check=True, cwd=folder, env={**os.environ, "CLONE": str(ROOT)})  # noqa: S602  # as a reader does
    code = "\n".join(line[1:] for line in DIFF.splitlines() if not line.startswith(without))
    if lifespan:
        code = code.replace("import FastAPI", "import FastAPI, Request")
        code = code.replace("app = ", f"{BEFORE}\n{LIFESPAN}\napp = ").replace("=release.lifespan", "=lifespan") + AFTER
    (folder / "mine.py").write_text(code, encoding="utf-8")


def reader(aws: QueueProcess, queue_url: str | None, **settings: object) -> dict[str, str]:
    """Returns the variables of a reader: those that the page names, and no path to this repository."""
    variables = environment(aws.endpoint, queue_url, **settings)
    ours = {name for name in variables if "BASIC_AUTH" in name} | {"APP_PORT", "APP_RELEASE", "PYTHONPATH"}
    return {name: value for name, value in variables.items() if name not in ours}


def post(url: str, body: bytes) -> httpx.Response:
    return httpx.post(f"{url}/webhooks/chargebee", content=body, timeout=60, verify=NO_CAS)


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_an_own_application(
    aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes, release: Release, tmp_path: Path
) -> None:
    """The webhook gets 200, and the queue has its bytes, which the release's own producer has sent."""
    write(tmp_path, release, without="+")
    with followed(SERVE, reader(aws, queue_url), tmp_path) as url:
        answer = post(url, event)
    assert (answer.status_code, answer.json()["status"]) == (200, "queued")
    assert [body for body, _ in queues.drain(sqs, queue_url)] == [event]


def test_an_own_application_with_refusals(aws: QueueProcess, queue_url: str, tmp_path: Path) -> None:
    """With the page's lines that begin with a plus, a body that is not an event gets 422, as a problem."""
    write(tmp_path, Release.V07_SYNC_HANDLER, without="-")
    with followed(SERVE, reader(aws, queue_url), tmp_path) as url:
        answer = post(url, b"{}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


@pytest.mark.parametrize("release", [Release.V02_BLOCKING, Release.V09_GROUP_COMMIT], ids=str)
def test_an_own_application_with_a_lifespan(
    aws: QueueProcess, queue_url: str, event: bytes, release: Release, tmp_path: Path
) -> None:
    """The release's lifespan adds to the reader's, whether it yields a queue or None. Both have a state."""
    write(tmp_path, release, without="+", lifespan=True)
    with followed(SERVE, reader(aws, queue_url), tmp_path) as url:
        answer, mine = post(url, event), httpx.get(f"{url}/mine", timeout=60, verify=NO_CAS)
    assert (answer.status_code, mine.status_code, mine.json()) == (200, 200, "here")


def test_an_own_application_with_v01(aws: QueueProcess, inline: Inline, event: bytes, tmp_path: Path) -> None:
    """v01 needs the three variables that the page names, and no queue."""
    write(tmp_path, Release.V01_INLINE, without="+")
    seed(inline.run, [event])
    with followed(SERVE, reader(aws, None, **inline.settings()), tmp_path) as url:
        answer = post(url, event)
    assert (answer.status_code, answer.json()["status"]) == (200, "processed")


NO_KEYS = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}


@pytest.mark.parametrize(
    ("release", "variables", "line"),
    [
        (Release.V03_THREADPOOL, {"APP_ENV": "prod"}, "APP_ENV is not a setting"),
        (Release.V01_INLINE, {}, "APP_BILLING_TABLE is not set"),
        (Release.V09_GROUP_COMMIT, NO_KEYS, "no credentials found"),
    ],
    ids=["unknown", "v01", "credentials"],
)
def test_an_own_application_that_does_not_start(
    aws: QueueProcess, queue_url: str, release: Release, variables: dict[str, str], line: str, tmp_path: Path
) -> None:
    """An unknown variable, v01 without its own variables, and missing credentials stop the start."""
    write(tmp_path, release, without="+", lifespan=variables is NO_KEYS)
    running = followed(SERVE, reader(aws, queue_url) | variables, tmp_path)
    with pytest.raises(ChildProcessError), running:
        pass
    assert line in (tmp_path / "stderr").read_text(encoding="utf-8")


def test_the_factory(aws: QueueProcess, sqs: "SQSClient", queue_url: str, event: bytes, tmp_path: Path) -> None:
    """uvicorn serves v02 with its own options: the service checks credentials, and the queue has the webhook."""
    assert "APP_RELEASE=v02 " in FACTORY
    assert "--http h11 --loop asyncio" in FACTORY
    variables = environment(aws.endpoint, queue_url, release="v02") | {"PYTHONPATH": str(ROOT)}
    with followed(FACTORY, variables, tmp_path) as url:
        unknown = post(url, event)
        known = httpx.post(f"{url}/webhooks/chargebee", content=event, auth=(USER, PASSWORD), timeout=60, verify=NO_CAS)
    assert (unknown.status_code, known.status_code) == (401, 200)
    assert [body for body, _ in queues.drain(sqs, queue_url)] == [event]
