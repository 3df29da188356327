"""A budget without limits, which only measures the CPU and memory of a process and its descendants."""

import os
from pathlib import Path

from loadtest.stage.budget.budget_limits import Limits
from loadtest.stage.tree import cpu_seconds, tree

NAME = "process tree"


class ProcessTree:
    how = NAME
    limited = False

    def __init__(self, limits: Limits) -> None:
        self._pid = os.getpid()

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        return command

    def attach(self, pid: int) -> None:
        self._pid = pid

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._pid)

    def peak_bytes(self) -> int | None:
        """Returns the sum of the processes' memory peaks in bytes, or None if the kernel is not Linux."""
        marks = []
        for process in tree(self._pid):
            status = Path(f"/proc/{process.pid}/status")
            if not status.exists():
                return None
            fields = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
            if "VmHWM" in fields:  # the peak (man 5 proc_pid_status), which a zombie does not have
                marks.append(int(fields["VmHWM"].split()[0]) * 1024)
        return sum(marks) if marks else None

    def close(self) -> None:
        """Does nothing, because there is nothing to remove."""
