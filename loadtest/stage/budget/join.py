"""Joins and removes cgroups."""

import os
import shlex
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

EMPTY_SECONDS = 10


def joining(groups: Iterable[Path], command: list[str]) -> list[str]:
    """Returns the command line of a shell that joins the groups, and then replaces itself with `command` (exec)."""
    joins = "".join(f"echo $$ >{shlex.quote(str(group / 'cgroup.procs'))} && " for group in groups)
    return ["sh", "-c", f'{joins}exec "$@"', "sh", *command]


def remove(group: Path) -> None:
    """Kills the processes in `group` and removes the group. Raises OSError if this is not possible within 10 s."""
    deadline = time.monotonic() + EMPTY_SECONDS
    while group.exists():
        try:
            for pid in (group / "cgroup.procs").read_text(encoding="utf-8").split():
                _kill(int(pid))
            group.rmdir()
        except OSError:  # the group's processes have not exited yet
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
