"""Runs another command of this project as a child process, and prints the command's output."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from loadtest.record.folders import ROOT

# Seconds that a command gets after Ctrl-C to end its own processes. A soak test needs the most.
STOP_SECONDS = 120


def run(command: str) -> tuple[int, list[str]]:
    """Runs `python -m COMMAND`. Returns its exit code, and the lines of its output.

    On Ctrl-C, sends SIGINT to the command, which then stops its own processes. Raises KeyboardInterrupt after the
    command has ended.
    """
    lines = []
    # Restore Python's SIGINT handler: a background job of a script ignores SIGINT, and the command would inherit this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with _started(command) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(f"  {line}", end="", flush=True)
            lines.append(line.strip())
        return process.wait(), lines


@contextmanager
def _started(command: str) -> Iterator["subprocess.Popen[str]"]:
    # In a new session, the command gets only the SIGINT from this process, not a second one from the terminal, which
    # would interrupt its clean-up.
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", *shlex.split(command)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            yield process
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            raise
