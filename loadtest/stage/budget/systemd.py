"""A transient scope of the user's systemd, with the delegated cgroup v2 controllers."""

import shutil
import subprocess
from pathlib import Path

from loadtest.stage.budget import cgroup_v2
from loadtest.stage.budget.limits import Limits, Unavailable

ANSWER_SECONDS = 30


class SystemdScope:
    how = "systemd scope"

    def __init__(self, limits: Limits) -> None:
        properties = []
        if limits.cpus is not None:
            properties.append(f"CPUQuota={limits.cpus:.0%}")
        if limits.memory is not None:
            properties += [f"MemoryMax={limits.memory}", "MemorySwapMax=0"]
        self._prefix = ["systemd-run", "--user", "--scope", "--quiet", "--collect", "-pCPUAccounting=yes"]
        self._prefix += [f"-p{setting}" for setting in (*properties, "MemoryAccounting=yes")]
        if shutil.which("systemd-run") is None:
            raise Unavailable("no systemd-run")
        command = [*self._prefix, "--", "true"]
        try:
            tried = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"systemd-run: no answer within {ANSWER_SECONDS} s") from None
        if tried.returncode:
            raise Unavailable(tried.stderr.strip())
        self.limited = limits.cpus is not None
        self._group = Path()

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        return [*self._prefix, "--", *command]

    def attach(self, pid: int) -> None:
        unified = next(
            line
            for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
            if line.startswith("0::")
        )
        self._group = cgroup_v2.ROOT / unified.removeprefix("0::/")

    def cpu_seconds(self) -> float:
        try:
            return cgroup_v2.cpu_seconds(self._group)
        except FileNotFoundError:  # --collect
            raise ChildProcessError("the measured process has ended, perhaps for lack of memory") from None

    def peak_bytes(self) -> int | None:
        return cgroup_v2.peak_bytes(self._group)

    def close(self) -> None:
        """systemd removes the scope when its last process exits."""
