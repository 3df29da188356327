"""What is attacked: a release of the service, or a peer, as a process of its own under a budget."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from app.settings import Release
from loadtest.budget import Budget
from loadtest.queues import free_port

ROOT = Path(__file__).parents[1]
START_SECONDS = 90  # a quarter of a core needs several seconds, and an attacked machine has other things to do
STOP_SECONDS = 5


@dataclass(frozen=True)
class Subject:
    """`command` serves on APP_PORT, with `flags` besides what the stack says. `enqueues`: its 200 is to be audited."""

    name: str
    command: list[str]
    flags: dict[str, str] = field(default_factory=dict)
    release: str | None = None
    enqueues: bool = True


class Running(NamedTuple):
    """A subject that is ready. `ready_s`: seconds from its start."""

    url: str
    ready_s: float


def release(release: Release, name: str | None = None, **flags: str) -> Subject:
    """The service itself; the APP_ variables of this environment reach it, `flags` count more."""
    inherited = {name: value for name, value in os.environ.items() if name.startswith("APP_")}
    inherited.pop("APP_RELEASE", None)
    return Subject(name or release.value, [sys.executable, "-m", "app", "web"], inherited | flags, release.value)


@contextmanager
def start(subject: Subject, budget: Budget, environment: dict[str, str], log: Path) -> Iterator[Running]:
    """Starts it on a free port and waits for its readyz. Raises ChildProcessError where it does not come up."""
    port = free_port()
    ours = environment | subject.flags | {"APP_PORT": str(port)}
    if subject.release is not None:
        ours["APP_RELEASE"] = subject.release
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("APP_", "AWS_"))}
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            budget.command(subject.command, ours),
            env=kept | ours,
            cwd=ROOT,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is for the attack, which stops it in its turn
        )
    try:
        _wait(port, process, started, log)
        budget.attach(process.pid)
        yield Running(f"http://127.0.0.1:{port}", time.monotonic() - started)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        process.kill()
        process.wait()


def _wait(port: int, process: "subprocess.Popen[bytes]", started: float, log: Path) -> None:
    while process.poll() is None and time.monotonic() - started < START_SECONDS:
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            ready = connection.getresponse().status == http.client.OK
            connection.close()
            if ready:
                return
        time.sleep(0.02)
    last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
    raise ChildProcessError(f"{' '.join(process.args)} was not ready: {last[0]}")  # type: ignore[arg-type]  # a list
