"""A program that reads a process's log through a pipe, and that a test can suspend, resume and kill."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import NamedTuple

import psutil

from tests.harness.service import Web

# On Linux, the pipe and the process store few lines, so that a test need not send thousands of webhooks. The script is
# otherwise the same as `-m app`.
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


class Probes(NamedTuple):
    """The seconds that /healthz took while the log reader was reading, and while it stalled."""

    reading: list[float]
    stalled: list[float]

    def require_answers(self, period: float) -> None:
        """Raises AssertionError if a probe waited for the reader: the reader stalls for a third of each period."""
        assert self.stalled, "the work ended before the reader stalled"
        assert max(self.stalled) < period / 3 / 2


def probed(process: Web, work: Callable[[], object], period: float) -> Probes:
    """Does `work` in a thread, probes the process, and suspends its log reader for the first third of each `period`."""
    reader, probes = reader_of(process), Probes([], [])
    with ThreadPoolExecutor(1) as thread, process.client(timeout=period) as client:
        working, began = thread.submit(work), time.monotonic()
        try:
            while not working.done():
                stalls = (time.monotonic() - began) % period < period / 3
                (reader.suspend if stalls else reader.resume)()
                asked = time.monotonic()
                assert client.get("/healthz").status_code == 200
                (probes.stalled if stalls else probes.reading).append(time.monotonic() - asked)
                time.sleep(0.02)  # between two probes
        finally:
            reader.resume()
        working.result()
    return probes
