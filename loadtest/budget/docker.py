"""A container of the project's own image, with the host's network (on macOS and Windows: a setting of Docker's)."""

import itertools
import os
import shutil
import subprocess
from pathlib import Path

from loadtest.budget.limits import Limits, Unavailable

ROOT = Path(__file__).parents[2]
IMAGE = "invoice-webhook:dev"
_number = itertools.count()


class Docker:
    how = "Docker"

    def __init__(self, limits: Limits) -> None:
        self._name = f"invoice-webhook-{os.getpid()}-{next(_number)}"
        self._limits: list[str] = []
        if limits.cpus is not None:
            self._limits.append(f"--cpus={limits.cpus}")
        if limits.memory is not None:
            self._limits += [f"--memory={limits.memory}", f"--memory-swap={limits.memory}"]  # both together: no swap
        if shutil.which("docker") is None or not (ROOT / "Dockerfile").is_file():
            raise Unavailable("no docker, or no Dockerfile")
        # From the cache, where the code is still the same.
        for step in (["info"], ["build", "--quiet", "--tag", IMAGE, str(ROOT)]):
            tried = subprocess.run(["docker", *step], capture_output=True, text=True, check=False)
            if tried.returncode:
                raise Unavailable(f"docker {step[0]}: {tried.stderr.strip()}")
        self.limited = limits.cpus is not None

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        """In the image, its own Python takes the place of ours."""
        variables = [f"--env={name}={value}" for name, value in environment.items()]
        start = ["docker", "run", "--rm", "--init", "--network=host", f"--name={self._name}", *self._limits]
        return [*start, *variables, f"--entrypoint={Path(command[0]).name}", IMAGE, *command[1:]]

    def attach(self, pid: int) -> None:
        """It is found by its name."""

    def cpu_seconds(self) -> float:
        fields = dict(line.split() for line in self._read("cpu.stat").splitlines())
        return int(fields["usage_usec"]) / 1e6

    def peak_bytes(self) -> int | None:
        return int(self._read("memory.peak"))

    def _read(self, file: str) -> str:
        command = ["docker", "exec", self._name, "cat", f"/sys/fs/cgroup/{file}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def close(self) -> None:
        subprocess.run(["docker", "rm", "--force", self._name], capture_output=True, check=False)
