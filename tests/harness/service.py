"""Runs `python -m app web` as a process, on a free port. Tests can wait for its log lines."""

import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import httpx
import psutil

from app.settings import Release
from local.readiness import wait_until_ready
from tests.harness import queues

USER, PASSWORD = "chargebee", "s3cret-pass"
# Importing v01's SDKs takes seconds of CPU, and on a busy machine, a start may take ten times as long.
START_SECONDS = 150
# Used because every URL here is http. Without it, each httpx.Client reads the CA bundle, which takes 28 ms of CPU.
NO_CAS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def clean_environment(**settings: object) -> dict[str, str]:
    """Returns the tests' environment without APP_ and AWS_ variables, and with `settings`.

    Leaves out COLUMNS as well, because pytest-xdist sets it to 80, but a command with a pipe has no such variable.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("APP_", "AWS_", "COLUMNS"))}
    return clean | {f"APP_{name.upper()}": str(value) for name, value in settings.items()}


def without_coverage(environment: dict[str, str]) -> dict[str, str]:
    """Returns `environment` without the variables that make coverage measure a process.

    A test needs this if it may send SIGINT at any moment to a process without a handler. If KeyboardInterrupt is raised
    while coverage has its lock (`Collector.lock_data`), coverage never releases the lock, and later waits for it
    forever.
    """
    return {name: value for name, value in environment.items() if not name.startswith("COVERAGE_PROCESS_")}


def environment(endpoint: str, queue_url: str | None, **settings: object) -> dict[str, str]:
    """Returns the environment of `web` as in a deployment, with a queue process for SQS."""
    ours = {
        "port": 0,
        **({"sqs_queue_url": queue_url} if queue_url is not None else {}),
        "basic_auth_username": USER,
        "basic_auth_password": PASSWORD,
        **settings,
    }
    return clean_environment(**ours) | queues.environment(endpoint)


# The newest release on uvicorn, and the newest release on this project's server.
ASGI, CALLBACKS = (max(one for one in Release if one.needs_asgi is asgi) for asgi in (True, False))
# The two ways in which this project's server calls a webhook's handler: callbacks or, for unusual webhooks, ASGI.
READERS = ("callbacks", "over_asgi")


class Web:
    """Runs `python -m app web`. `with` waits until the process is ready, and kills it at the end if it still runs."""

    def __init__(
        self, environment: dict[str, str], open_files: int | None = None, command: list[str] | None = None
    ) -> None:
        command = command or [sys.executable, "-m", "app", "web"]
        if open_files is not None:
            command = ["bash", "-c", f'ulimit -n {open_files} && exec "$@"', "bash", *command]
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, encoding="utf-8")
        self.url = ""
        self.lines: list[dict[str, Any]] = []
        self._forced = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if self._forced and not line.startswith("{"):
                continue  # not JSON: a traceback, because SIGINT has interrupted the process's exit or coverage's exit
            with self._changed:
                self.lines.append(json.loads(line))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_for(self, text: str, timeout: float = 60) -> str:
        """Waits for the first log message that contains `text`, and returns it."""
        message: str = self._line(lambda line: text in line["message"], repr(text), timeout)["message"]
        return message

    def log(self, **fields: object) -> dict[str, Any]:
        """Waits for the first log line with these fields, and returns it."""
        return self._line(lambda line: fields.items() <= line.items(), str(fields), 60)

    def wait_for_number(self, number: int, outcome: str) -> None:
        """Waits until the log lines of `outcome`, at most one a second, add up to exactly `number` webhooks."""

        def counted() -> int:
            return sum(line["number"] for line in self.lines if line.get("outcome") == outcome)

        with self._changed:
            self._changed.wait_for(lambda: counted() >= number or not self._reader.is_alive(), 60)
            assert counted() == number, self.lines

    def _line(self, wanted: Callable[[dict[str, Any]], bool], what: str, timeout: float) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            return next(filter(wanted, self.lines), None)

        with self._changed:
            self._changed.wait_for(lambda: found() or not self._reader.is_alive(), timeout)
            line = found()
        assert line is not None, f"no line with {what} in {self.lines}"
        return line

    def memory(self) -> int:
        """Returns the bytes of physical memory that the process uses."""
        rss: int = psutil.Process(self.process.pid).memory_info().rss
        return rss

    def connections(self) -> int:
        """Returns the number of connections that the process has accepted and not closed."""
        _, port = self.address
        all_of_them = psutil.Process(self.process.pid).net_connections("tcp")
        return sum(one.laddr.port == port and one.status != psutil.CONN_LISTEN for one in all_of_them)

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def client(self, **options: Any) -> httpx.Client:
        """Returns an HTTP client with the right credentials."""
        return httpx.Client(base_url=self.url, verify=NO_CAS, **{"auth": (USER, PASSWORD), "timeout": 60, **options})

    def post(self, body: bytes, **options: Any) -> httpx.Response:
        with self.client() as client:
            return client.post("/webhooks/chargebee", content=body, **options)

    def stop(self, sig: signal.Signals = signal.SIGTERM, timeout: float = 60) -> int:
        """Sends `sig`, and returns the exit code."""
        self.process.send_signal(sig)
        return self.process.wait(timeout)

    def __enter__(self) -> Self:
        try:
            self.url = wait_until_ready(self.process, self._announced, START_SECONDS, interval=0.01)
        except BaseException as error:
            self.__exit__()  # so that all log lines have been read
            error.add_note(f"its log: {self.lines}")
            raise
        return self

    def _announced(self) -> str | None:
        """Returns the URL on which the process listens, or None if the log does not have it yet."""
        messages = [line["message"] for line in self.lines]
        return next((message.split()[2] for message in messages if message.startswith("Listening on")), None)

    def _end(self) -> None:
        """Ends the process with two SIGINTs. SIGKILL would lose the process's coverage data."""
        self._forced = True
        for _ in range(2):
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(1)

    def __exit__(self, *error: object) -> None:
        if "COVERAGE_PROCESS_CONFIG" in os.environ and self.url and self.process.poll() is None:
            self._end()
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


class Service(Web):
    """Runs `web` as in a deployment, with its queue and credentials from the environment."""

    def __init__(self, endpoint: str, queue_url: str | None, **settings: object) -> None:
        super().__init__(environment(endpoint, queue_url, **settings))
