"""Waits until a child process is ready. Raises an error if the process exits first, or is not ready in time."""

import http.client
import shlex
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")


def wait_until_ready(
    process: "subprocess.Popen[Any]", ready: Callable[[], T | None], seconds: float, interval: float = 0.05
) -> T:
    """Calls `ready` every `interval` seconds until its result is true, and returns this result.

    If `ready` raises OSError or HTTPException, `process` is not ready yet. Raises ChildProcessError if `process` exits
    first, and TimeoutError after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while process.poll() is None:
        with suppress(OSError, http.client.HTTPException):
            if answer := ready():
                return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"{_command(process)} was not ready within {seconds:g} s")
        time.sleep(interval)
    raise ChildProcessError(f"{_command(process)} ended with exit code {process.returncode}")


def is_ready(url: str) -> bool:
    """Returns True if the service at `url` answers /readyz with 200, or False if it answers with another status.

    Raises OSError or HTTPException if the service does not answer.
    """
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)) as connection:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK


def is_listening(port: int) -> bool:
    """Returns True if a process accepts connections to `port` on loopback. Raises OSError if no process does."""
    socket.create_connection(("127.0.0.1", port), timeout=1).close()
    return True


def _command(process: "subprocess.Popen[Any]") -> str:
    return process.args if isinstance(process.args, str) else shlex.join(map(str, process.args))  # type: ignore[arg-type]  # here, `args` is a list
