"""The process under attack: a release of the service, or a peer (the same work in another language)."""

import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from app.settings import Release
from loadtest.record.folders import ROOT
from loadtest.stage.budget import Budget
from local.launch import INSTRUMENTED, WEB
from local.ports import free_port
from local.readiness import wait_until_ready
from profiles import instruments

START_SECONDS = 90  # a start on a quarter of a core takes several seconds, and more on a busy machine
STOP_SECONDS = 5

# The APP_ variables of this environment that an attack passes on to the service. Secrets are not among them, because
# the committed results contain these variables. The stack sets the queue, the address and the credentials.
INHERITED = tuple(
    f"APP_{name}"
    for name in (
        *("THREADPOOL_TOKENS",),
        *("MAX_CONNECTIONS", "HEAD_TIMEOUT", "KEEP_ALIVE_TIMEOUT", "MAX_IN_FLIGHT", "MAX_WAIT"),
        *("LOG_LEVEL", "MAX_BODY_BYTES", "BODY_TIMEOUT", "MAX_BUFFERED_BYTES"),
        *("SQS_TIMEOUT", "SQS_MAX_CONNECTIONS", "SQS_BATCHES"),
    )
)


# BOUNDS are the defaults of a deployment. UNBOUNDED is like the original service, which had no bound on the number of
# webhooks in flight, the number of connections, or the time of waiting.
BOUNDS = {"APP_MAX_IN_FLIGHT": "4096", "APP_MAX_CONNECTIONS": "8192", "APP_MAX_WAIT": "5"}
UNBOUNDED = {"APP_MAX_IN_FLIGHT": "10000", "APP_MAX_CONNECTIONS": "0", "APP_MAX_WAIT": "0"}


# The releases that call SQS. v01 does not: it spends its time waiting for Chargebee. Only attack.sh, `bench` and
# `history` measure v01.
QUEUEING = tuple(release for release in Release if release.enqueues)


@dataclass(frozen=True)
class AttackSubject:
    """A program to attack. `command` starts it. `flags`: its environment variables, besides those of the queue.

    `port`: the name of the variable with the port on which the program listens. `ready`: the path that returns 200 when
    the program is ready. `enqueues`: True if an audit checks that each webhook with a 200 is in the queue. `core`: the
    program starts pinned to this core; None means no pinning. `folder`: the working directory, from which Python
    imports the service.
    """

    name: str
    command: list[str]
    flags: dict[str, str] = field(default_factory=dict)
    release: str | None = None
    enqueues: bool = True
    core: int | None = None
    port: str = "APP_PORT"
    ready: str = "/readyz"
    folder: Path = ROOT


class Running(NamedTuple):
    """A subject that is ready. `ready_s`: seconds that its start took.

    `pid`: the id of its process or, with Docker, of the process `docker run`.
    """

    url: str
    pid: int
    ready_s: float


def release(release: Release, name: str | None = None, **flags: str) -> AttackSubject:
    """Returns a release that runs with `flags` and the INHERITED variables. `flags` take precedence.

    If `flags` choose an instrument, such as a profiler, the release runs with it: see `profiles.instruments`.
    """
    inherited = {name: os.environ[name] for name in INHERITED if os.environ.get(name)}
    command = INSTRUMENTED if instruments.chosen(flags) else WEB
    return AttackSubject(name or release.value, [sys.executable, "-m", *command], inherited | flags, release.value)


def by_uvicorn(of: Release, name: str, **flags: str) -> AttackSubject:
    """Returns a release that `python -m uvicorn` serves. Variables UVICORN_… set the options of uvicorn.

    When uvicorn ends, it does not drain as `python -m app web` does.
    """
    command = [sys.executable, "-m", "uvicorn", "--factory", "profiles.instruments.wrapped:create_app"]
    flags = {"UVICORN_ACCESS_LOG": "0"} | flags
    return replace(release(of, name, **flags), command=command, port="UVICORN_PORT")


def used() -> list[str]:
    """Returns the variables of this environment that a release inherits, as `NAME=value`."""
    return [f"{name}={os.environ[name]}" for name in sorted(INHERITED) if os.environ.get(name)]


def print_inherited() -> None:
    """Prints the APP_ variables of this environment: those that a release inherits, and those that it ignores."""
    print_variables(used(), sorted(name for name in os.environ if name.startswith("APP_") and name not in INHERITED))


def print_variables(used: list[str], ignored: list[str]) -> None:
    """Prints both lists on standard error. `ignored` has names without values, because the values may be secret."""
    parts = [f"{what}: {', '.join(names)}" for what, names in (("used", used), ("ignored", ignored)) if names]
    if parts:
        print(f"APP_ variables {'; '.join(parts)}", file=sys.stderr)


def surroundings() -> dict[str, str]:
    """Returns the variables of this environment that every process under measurement gets.

    Leaves out APP_… and AWS_…. Leaves out PYTHONDONTWRITEBYTECODE as well, which many images set: with this variable,
    each start would compile all modules again, but the deployed image contains the bytecode.
    """
    left_out = ("APP_", "AWS_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(left_out)}


def environment(subject: AttackSubject, stack: dict[str, str], port: int) -> dict[str, str]:
    """Returns the variables of `subject`: UNBOUNDED, its flags, the variables of the stack, its port and its release.

    If two of these set the same variable, the one named later takes precedence.
    """
    ours = UNBOUNDED | subject.flags | stack | {subject.port: str(port)}
    return ours if subject.release is None else ours | {"APP_RELEASE": subject.release}


def _pinned(subject: AttackSubject) -> list[str]:
    """Returns the subject's command, pinned to its core if it has one and `taskset` (of util-linux) is installed."""
    if subject.core is None or shutil.which("taskset") is None:
        return subject.command
    return ["taskset", "--cpu-list", str(subject.core), *subject.command]


@contextmanager
def start(
    subject: AttackSubject, budget: Budget, stack: dict[str, str], log: Path, *, port: int | None = None
) -> Iterator[Running]:
    """Runs `subject` within `budget` inside the context, which begins when the subject is ready.

    If `port` is None, uses a free port. Appends the subject's output to the file `log`. Raises ChildProcessError if the
    subject ends before it is ready, or is not ready within START_SECONDS.
    """
    port = port or free_port()
    url = f"http://127.0.0.1:{port}"
    ours = environment(subject, stack, port)
    started = time.monotonic()
    with log.open("ab") as output:
        process = subprocess.Popen(
            budget.command(_pinned(subject), ours),
            env=surroundings() | ours,
            cwd=subject.folder,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C in the terminal ends only the attack, which then stops the subject
        )
    try:
        _wait(url + subject.ready, process, log)
        budget.attach(process.pid)
        yield Running(url, process.pid, time.monotonic() - started)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    """Returns True if a GET of `url` gets a 200. Raises OSError or HTTPException if there is no response."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=5)) as connection:
        connection.request("GET", parts.path)
        return connection.getresponse().status == HTTPStatus.OK


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    try:
        wait_until_ready(process, lambda: _answers(url), START_SECONDS, interval=0.02)
    except (ChildProcessError, TimeoutError) as error:
        last = log.read_text(errors="replace", encoding="utf-8").strip().splitlines()[-1:] or ["no output"]
        raise ChildProcessError(f"{error}; the last line of its log: {last[0]}") from None
