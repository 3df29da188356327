"""`python -m lab` as a process of its own, on a free port."""

import signal
import subprocess
import sys
import threading
from typing import Any, Self

import httpx
import psutil

from tests.harness.service import NO_CAS, clean_environment


class Lab:
    """A running lab. `with` waits until the lab listens, and stops it at the end. `workers=2`: APP_LAB_WORKERS=2."""

    def __init__(self, *arguments: str, **settings: object) -> None:
        environment = clean_environment(**{f"lab_{name}": value for name, value in {"port": 0, **settings}.items()})
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "lab", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            process_group=0,  # so that Ctrl-C can be pressed for all of it, as in a terminal
        )
        self.errors: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def tree(self) -> list[psutil.Process]:
        """Returns all processes of the lab."""
        process = psutil.Process(self.process.pid)
        return [process, *process.children(recursive=True)]

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, verify=NO_CAS, **{"timeout": 60, **options})

    def get(self, path: str) -> httpx.Response:
        with self.client() as client:
            return client.get(path)

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> int:
        """Sends `sig`, and returns the exit code."""
        self.process.send_signal(sig)
        return self.process.wait(60)

    def __enter__(self) -> Self:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("Listening on http://"):
            self.__exit__()
            raise AssertionError(f"the lab did not start: {line}{''.join(self.errors)}")
        self.url = line.split()[2]
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.stop()
        self._reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
