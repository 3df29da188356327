"""Starts child processes that end when this process ends, even if this process is killed.

`python -m local.child MODULE …` runs `python -m MODULE …` until its standard input is closed. The operating system
closes the standard input when the parent process ends. The child process then sends SIGTERM to itself. If the child
process still runs LAST_SECONDS later, it kills itself and its own children.
"""

import json
import os
import runpy
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

from app.errors import ConfigurationError
from local.ports import START_SECONDS

LAST_SECONDS = 3.0
# A stand-in gets only these environment variables, which a Python interpreter needs. A stand-in must not get the user's
# AWS_ and APP_ variables.
_KEPT = ("PATH", "PYTHONPATH", "TMPDIR", "LANG")


class Child(NamedTuple):
    """A running stand-in. `ready` is the JSON object that the stand-in printed when it was ready."""

    pid: int
    ready: dict[str, Any]


@contextmanager
def child_process(
    command: Sequence[str],
    environment: Mapping[str, str],
    patience: float,
    output: int | None = None,
    errors: int | None = None,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs `python -m` with the arguments `command` as a child process, until the `with` block ends.

    The child gets only the environment variables in `environment`. When the block ends, this function closes the
    child's standard input, which stops the child. If the child still runs `patience` seconds later, this function kills
    it. `output` and `errors` are the arguments `stdout` and `stderr` of `subprocess.Popen`.
    """
    # The child runs in a session of its own, so Ctrl-C reaches only the parent. The parent then stops its children one
    # after the other.
    with subprocess.Popen(
        [sys.executable, "-m", "local.child", *command],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=errors,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        try:
            yield process
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # kills the child and the processes that the child has started


@contextmanager
def start(module: str, arguments: list[str], failure: str, patience: float = 0.0) -> Iterator[Child]:
    """Runs the stand-in `module` until the `with` block ends.

    When the stand-in is ready, it prints a line of JSON, and the block begins. Raises ConfigurationError with the text
    `failure` if the stand-in ends without printing this line, or does not print it in time.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    with child_process([module, *arguments], kept, patience, subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            ready = first_line(process.stdout)
        except TimeoutError as error:
            raise ConfigurationError(f"{failure}: {error}") from None
        if not ready:
            raise ConfigurationError(f"{failure} (see its error above)")
        yield Child(process.pid, json.loads(ready))


def first_line(output: IO[bytes], seconds: float = START_SECONDS) -> bytes:
    """Returns the first line that a new process prints, or an empty line if the process ends without printing.

    Raises TimeoutError if the process prints nothing within `seconds`.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        if not selector.select(seconds):
            raise TimeoutError(f"no answer within {seconds:g} s")
    return output.readline()


def end_with_parent() -> None:
    """Makes this process end when its standard input is closed, which happens when the parent process ends."""
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    os.read(sys.stdin.fileno(), 1)  # the parent writes nothing more, so `read` returns when the pipe is closed
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LAST_SECONDS)
    os.killpg(0, signal.SIGKILL)  # kills the process group: this process and its children


if __name__ == "__main__":
    end_with_parent()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
