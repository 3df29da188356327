"""Into a control group and out of it."""

import os
import shlex
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

EMPTY_SECONDS = 10


def joining(groups: Iterable[Path], command: list[str]) -> list[str]:
    """`command`, by way of a shell that joins the groups and then becomes it: nothing of it runs outside."""
    joins = "".join(f"echo $$ >{shlex.quote(str(group / 'cgroup.procs'))} && " for group in groups)
    return ["sh", "-c", f'{joins}exec "$@"', "sh", *command]


def remove(group: Path) -> None:
    """Kills what is left in `group` and takes it away. Raises OSError where that does not work within 10 s."""
    deadline = time.monotonic() + EMPTY_SECONDS
    while group.exists():
        try:
            for pid in (group / "cgroup.procs").read_text().split():
                _kill(int(pid))
            group.rmdir()
        except OSError:  # its processes are still ending
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
