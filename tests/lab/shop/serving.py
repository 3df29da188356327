"""`python -m lab` as a process of its own, on a free port."""

import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Self

import httpx
import psutil

from tests.harness.service import NO_CAS, clean_environment

SCALE = 0.001
SECONDS = 60.0


def environment(**settings: object) -> dict[str, str]:
    """Returns the lab's variables. These tests never call the upstream, so none is started."""
    ours = {"port": 0, "upstream_url": "http://127.0.0.1:9", **settings}
    return clean_environment(**{f"lab_{name}": value for name, value in ours.items()})


def command(*arguments: str, **settings: object) -> "subprocess.CompletedProcess[str]":
    """Runs `python -m lab …` until it ends."""
    return subprocess.run(
        [sys.executable, "-m", "lab", *arguments],
        env=environment(**settings),
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


class Lab:
    """`with` waits until the workers accept connections, and ends the lab with SIGTERM."""

    def __init__(self, arguments: Sequence[str] = (), **settings: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lab", *arguments],
            env=environment(**settings),
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        assert self.process.stdout is not None
        said, _, self.url = self.process.stdout.readline().strip().rpartition(" ")
        assert said == "Listening on"
        self.client = httpx.Client(base_url=self.url, verify=NO_CAS, timeout=SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.terminate()
        self.process.communicate(timeout=SECONDS)

    def get(self, path: str, **query: object) -> httpx.Response:
        return self.client.get(path, params={name: str(value) for name, value in query.items()})

    def until(self, status: int, path: str, **query: object) -> httpx.Response:
        """Repeats the request until the answer has this status."""
        deadline = time.monotonic() + SECONDS
        while (response := self.get(path, **query)).status_code != status:
            assert time.monotonic() < deadline, response.text
        return response

    def of_the_pool(self) -> list[psutil.Process]:
        """Returns the processes that compute fibonacci, of a lab with one worker."""
        return [one for one in self.family() if "spawn_main" in " ".join(one.cmdline())]

    def family(self) -> list[psutil.Process]:
        """Returns all processes of the lab."""
        process = psutil.Process(self.process.pid)
        return [process, *process.children(recursive=True)]


def problem(response: httpx.Response) -> str:
    """Returns the detail of an answer, which must be a 503."""
    assert response.status_code == 503
    assert response.headers["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    return str(body["detail"])
