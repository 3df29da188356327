"""Runs `python -m lab` as a process, on a free port."""

import subprocess
import sys
from typing import Self

import httpx

from tests.harness.service import NO_CAS, clean_environment


class Lab:
    """A running lab. `with` waits until the lab listens, and stops the lab at the end."""

    def __init__(self, **settings: object) -> None:
        environment = clean_environment(**{f"lab_{name}": value for name, value in {"port": 0, **settings}.items()})
        command = [sys.executable, "-u", "-m", "lab"]
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8")

    def client(self, limits: httpx.Limits) -> httpx.Client:
        return httpx.Client(base_url=self.url, verify=NO_CAS, timeout=60, limits=limits)

    def __enter__(self) -> Self:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("Listening on http://"), f"the lab did not start: {line}"
        self.url = line.split()[2]
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)
