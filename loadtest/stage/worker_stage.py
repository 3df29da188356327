"""Runs a worker as a process, within a budget."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loadtest.record.folders import ROOT
from loadtest.stage.budget import Budget
from loadtest.stage.subject import surroundings

COMMAND = [sys.executable, "-m", "app", "worker"]
STOP_SECONDS = 60


def environment(stack: dict[str, str]) -> dict[str, str]:
    """Returns the environment of a worker: `subject.surroundings()`, and the variables in `stack`."""
    return surroundings() | stack


@contextmanager
def started(stack: dict[str, str], budget: Budget, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs a worker inside the context. Appends the worker's output to `log`.

    The caller must call `budget.attach` when the worker has begun to work.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            budget.command(COMMAND, stack),
            env=environment(stack),
            cwd=ROOT,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def require_running(process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Raises ChildProcessError, with the last line of `log`, if the worker has ended."""
    if process.poll() is not None:
        last = log.read_text(errors="replace", encoding="utf-8").strip().splitlines()[-1:] or ["no output"]
        raise ChildProcessError(f"the worker has ended with {process.returncode}: {last[0]}")
