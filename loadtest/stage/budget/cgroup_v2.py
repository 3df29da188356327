"""A budget by cgroup v2, as a group at the top of the hierarchy. It needs root, and the controllers cpu and memory.

Linux documents the files: https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

import itertools
import os
from contextlib import suppress
from pathlib import Path

from loadtest.stage.budget.budget_limits import Limits, Unavailable
from loadtest.stage.budget.join import joining, remove

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000  # the period of the CPU quota, as in Kubernetes
_number = itertools.count()


class CgroupV2:
    how = "cgroup v2"

    def __init__(self, limits: Limits, root: Path = ROOT) -> None:
        self._group = root / f"invoice-webhook-{os.getpid()}-{next(_number)}"
        try:
            if not {"cpu", "memory"} <= set((root / "cgroup.controllers").read_text(encoding="utf-8").split()):
                raise Unavailable(f"{root}: no cpu and memory controllers")
            if not {"cpu", "memory"} <= set((root / "cgroup.subtree_control").read_text(encoding="utf-8").split()):
                (root / "cgroup.subtree_control").write_text("+cpu +memory", encoding="utf-8")
            self._group.mkdir()
            if limits.cpus is not None:
                (self._group / "cpu.max").write_text(f"{int(limits.cpus * PERIOD_US)} {PERIOD_US}", encoding="utf-8")
            if limits.memory is not None:
                (self._group / "memory.max").write_text(str(limits.memory), encoding="utf-8")
                with suppress(PermissionError):  # a kernel without swap does not have the file
                    (self._group / "memory.swap.max").write_text("0", encoding="utf-8")  # a pod has no swap
        except OSError as error:
            self.close()
            raise Unavailable(str(error)) from None
        self.limited = limits.cpus is not None

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        return joining((self._group,), command)

    def attach(self, pid: int) -> None:
        """Does nothing, because the shell that `command` starts has already joined the group."""

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._group)

    def peak_bytes(self) -> int | None:
        return peak_bytes(self._group)

    def close(self) -> None:
        remove(self._group)


def cpu_seconds(group: Path) -> float:
    """Returns the CPU seconds that the processes of `group` have used, from cpu.stat."""
    fields = dict(line.split() for line in (group / "cpu.stat").read_text(encoding="utf-8").splitlines())
    return int(fields["usage_usec"]) / 1e6


def peak_bytes(group: Path) -> int | None:
    """Returns the highest memory use of `group` in bytes, or None before Linux 5.19, when memory.peak was missing."""
    file = group / "memory.peak"
    return int(file.read_text(encoding="utf-8")) if file.exists() else None
