"""Tests waiting for a process that becomes ready, ends, or takes too long."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from local.readiness import is_listening, wait_until_ready

Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python programs; none is left at the end."""
    started = []

    def run(program: str) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_the_first_answer_is_returned(start: Start) -> None:
    """`ready` is called again after a false result or an OSError."""
    answers: Iterator[str | OSError | None] = iter([None, "", ConnectionRefusedError(), "here", "later"])

    def ready() -> str | None:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    assert wait_until_ready(start("import time; time.sleep(60)"), ready, 60, interval=0) == "here"


def test_a_process_that_ends(start: Start) -> None:
    """A process that ends raises ChildProcessError with its exit code, long before the deadline."""
    with pytest.raises(ChildProcessError, match="ended with exit code 3"):
        wait_until_ready(start("raise SystemExit(3)"), lambda: None, 60)


def test_a_process_that_is_too_slow(start: Start) -> None:
    """A process that takes too long raises TimeoutError with the time-out."""
    with pytest.raises(TimeoutError, match=r"was not ready within 0\.2 s"):
        wait_until_ready(start("import time; time.sleep(60)"), lambda: is_listening(1), 0.2)
