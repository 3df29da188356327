"""A program that reads a process's log through a pipe, and that a test can suspend, resume and kill."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from tests.harness.service import Web

# The process stores at most this many bytes of log lines, so that a test need not send thousands of webhooks.
MOST_BYTES = 20_000
# The same as `-m app`.
_SCRIPT = f"from app.telemetry import stderr; stderr.MOST_BYTES = {MOST_BYTES}; from app.cli import main; main()"


def with_reader(command: str) -> list[str]:
    """Returns the command line of `python -m app COMMAND`, whose log a program passes on to the test."""
    return ["bash", "-c", 'exec "$@" 2> >(exec cat >&2)', "bash", sys.executable, "-c", _SCRIPT, command]


def reader_of(process: Web) -> psutil.Process:
    """Returns the program that reads the log of `process`."""
    [reader] = psutil.Process(process.process.pid).children()
    return reader


@contextmanager
def stalled(process: Web) -> Iterator[None]:
    """Suspends the reader of the log until the `with` block ends. The block may kill the reader."""
    reader = reader_of(process)
    reader.suspend()
    try:
        yield
    finally:
        with suppress(psutil.NoSuchProcess):
            reader.resume()
