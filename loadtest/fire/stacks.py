"""Stacks of a running process, sampled by py-spy from outside: what is measured runs none of the profiler's code.

Threads that wait are left out, so the shares are shares of CPU time.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import ConfigurationError

RATE = 500  # a second
# Where an idle thread of a pool waits: to py-spy it is busy while the kernel holds its whole cgroup back.
IDLE = "_worker (", "thread.py:"
STOP_SECONDS = 60

# Frames, the outermost first: `function (file:line)`.
Stack = tuple[str, ...]


@contextmanager
def recorded(pid: int, file: Path) -> Iterator[None]:
    """Samples the process and its children until the context is left; then `file` can be read with `stacks`.

    Raises ConfigurationError if py-spy may not read the process, or does not stop in time.
    """
    program = Path(sys.executable).with_name("py-spy")
    found = str(program) if program.exists() else shutil.which("py-spy")
    assert found is not None, "py-spy is in the load test's requirements"
    command = [found, "record", "--pid", str(pid), "--subprocesses", "--rate", str(RATE), "--full-filenames"]
    log = file.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--format", "raw", "--duration", "unlimited", "--output", str(file)],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)  # makes py-spy write the file
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise ConfigurationError(f"py-spy did not stop within {STOP_SECONDS} s") from None
    if not file.exists():
        reason = log.read_text(errors="replace", encoding="utf-8").strip().splitlines()
        hint = "" if os.geteuid() == 0 else "; run it as root, or allow ptrace (kernel.yama.ptrace_scope=0)"
        raise ConfigurationError(f"py-spy recorded nothing: {reason[-1] if reason else 'no output'}{hint}")


def stacks(file: Path) -> Counter[Stack]:
    """The samples of each stack in a file of `recorded`, without idle threads."""
    counted: Counter[Stack] = Counter()
    for line in file.read_text(encoding="utf-8").splitlines():
        joined, _, number = line.rpartition(" ")
        frames = tuple(joined.split(";"))
        if not all(part in frames[-1] for part in IDLE):
            counted[frames] += int(number)
    return counted
