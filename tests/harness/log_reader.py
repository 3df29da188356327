"""Runs a program that reads a process's log through a pipe. A test can suspend, resume and kill the program."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import psutil

from tests.harness.service import Web

# The same as `-m app`, but on Linux, the pipe and the process store fewer lines, so that a test needs only hundreds of
# webhooks to fill them.
_SCRIPT = """
import fcntl
from app.cli import main
from app.telemetry import stderr
stderr.MOST_BYTES = 20_000
if hasattr(fcntl, "F_SETPIPE_SZ"):
    fcntl.fcntl(2, fcntl.F_SETPIPE_SZ, 4096)
main()
"""


def with_reader(command: str) -> list[str]:
    """Returns the command line that runs `python -m app COMMAND` with a program that passes its log on to the test."""
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


def require_probes(process: Web, work: Callable[[], object], period: float) -> None:
    """Does `work` in a thread, and probes the process. The log reader stalls for the first third of each `period`.

    Raises httpx.ReadTimeout if a probe waits for the reader, because the reader continues only after the response.
    """
    reader, answers = reader_of(process), 0
    with ThreadPoolExecutor(1) as thread, process.client(timeout=60) as client:
        working, began = thread.submit(work), time.monotonic()
        try:
            while not working.done():
                stalls = (time.monotonic() - began) % period < period / 3
                (reader.suspend if stalls else reader.resume)()
                assert client.get("/healthz").status_code == 200
                answers += stalls
                time.sleep(0.02)  # between two probes
        finally:
            reader.resume()
        working.result()
    assert answers, "the work ended before the reader stalled"
