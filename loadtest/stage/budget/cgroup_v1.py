"""A budget by cgroup v1, with one folder for each controller. Usually, only root can make these folders."""

import itertools
import os
from pathlib import Path

from loadtest.stage.budget.budget_limits import Limits, Unavailable
from loadtest.stage.budget.join import joining, remove

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000  # the period of the CPU quota, as in Kubernetes
_number = itertools.count()


class CgroupV1:
    how = "cgroup v1"

    def __init__(self, limits: Limits, root: Path = ROOT) -> None:
        name = f"invoice-webhook-{os.getpid()}-{next(_number)}"
        self._cpu, self._cpuacct, self._memory = (root / kind / name for kind in ("cpu", "cpuacct", "memory"))
        if not all(group.parent.is_dir() for group in self._groups):
            raise Unavailable(f"{root}: no cpu, cpuacct and memory")
        try:
            for group in self._groups:
                group.mkdir(exist_ok=True)  # cpu and cpuacct may be the same folder
            if limits.cpus is not None:
                (self._cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="utf-8")
                (self._cpu / "cpu.cfs_quota_us").write_text(str(int(limits.cpus * PERIOD_US)), encoding="utf-8")
            if limits.memory is not None:
                (self._memory / "memory.limit_in_bytes").write_text(str(limits.memory), encoding="utf-8")
                with_swap = self._memory / "memory.memsw.limit_in_bytes"
                if with_swap.exists():  # only if the kernel can limit swap; equal limits mean no swap, as in a pod
                    with_swap.write_text(str(limits.memory), encoding="utf-8")
        except OSError as error:
            self.close()
            raise Unavailable(str(error)) from None
        self.limited = limits.cpus is not None

    @property
    def _groups(self) -> tuple[Path, ...]:
        return (self._cpu, self._cpuacct, self._memory)

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        return joining(self._groups, command)

    def attach(self, pid: int) -> None:
        """Does nothing, because the shell that `command` starts has already joined the groups."""

    def cpu_seconds(self) -> float:
        return int((self._cpuacct / "cpuacct.usage").read_text(encoding="utf-8")) / 1e9

    def peak_bytes(self) -> int | None:
        return int((self._memory / "memory.max_usage_in_bytes").read_text(encoding="utf-8"))

    def close(self) -> None:
        for group in self._groups:
            remove(group)
