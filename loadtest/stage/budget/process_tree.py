"""No limit: only reads what the processes use."""

from pathlib import Path

import psutil

from loadtest.stage.budget.limits import Limits

NAME = "process tree"


class ProcessTree:
    how = NAME
    limited = False

    def __init__(self, limits: Limits) -> None:
        self._process = psutil.Process()

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        return command

    def attach(self, pid: int) -> None:
        self._process = psutil.Process(pid)

    def _tree(self) -> list[psutil.Process]:
        return [self._process, *self._process.children(recursive=True)]

    def cpu_seconds(self) -> float:
        times = [process.cpu_times() for process in self._tree()]
        return sum(time.user + time.system for time in times)

    def peak_bytes(self) -> int | None:
        """Sum of the kernel's VmHWM of each process, which only Linux has: man 5 proc_pid_status."""
        marks = []
        for process in self._tree():
            status = Path(f"/proc/{process.pid}/status")
            if not status.exists():
                return None
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            marks.append(int(fields["VmHWM"].split()[0]) * 1024)
        return sum(marks)

    def close(self) -> None:
        """Nothing to remove."""
