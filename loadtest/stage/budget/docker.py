"""A budget by a container of the project's image, on the host's network.

On macOS and Windows, a setting of Docker Desktop enables the host's network:
https://docs.docker.com/engine/network/drivers/host/#docker-desktop
"""

import itertools
import os
import shutil
import subprocess
import sys
from contextlib import suppress

from loadtest.record.folders import ROOT
from loadtest.stage.budget.budget_limits import Limits, Unavailable

IMAGE = "invoice-webhook:dev"
ANSWER_SECONDS, BUILD_SECONDS = 30, 900
# For each cgroup version, two files below /sys/fs/cgroup in a container: one has the used CPU, one the peak memory.
FILES = {"1": ("cpuacct/cpuacct.usage", "memory/memory.max_usage_in_bytes"), "2": ("cpu.stat", "memory.peak")}
_number = itertools.count()


class Docker:
    how = "Docker"

    def __init__(self, limits: Limits) -> None:
        self._name = f"invoice-webhook-{os.getpid()}-{next(_number)}"
        self._limits: list[str] = []
        if limits.cpus is not None:
            self._limits.append(f"--cpus={limits.cpus}")
        if limits.memory is not None:
            self._limits += [f"--memory={limits.memory}", f"--memory-swap={limits.memory}"]  # equal limits mean no swap
        if shutil.which("docker") is None or not (ROOT / "Dockerfile").is_file():
            raise Unavailable("no docker, or no Dockerfile")
        self._version = _docker("info", "--format", "{{.CgroupVersion}}")
        if self._version not in FILES:
            raise Unavailable("docker info: no engine, or one without cgroups")
        _docker("build", "--quiet", "--target=app", f"--tag={IMAGE}", str(ROOT))  # fast if the code has not changed
        self.limited = limits.cpus is not None
        self._shell: subprocess.Popen[str] | None = None

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        """Returns the command line that runs `command` in the image, with the image's Python."""
        program, *arguments = ("python" if word == sys.executable else word for word in command)
        variables = [f"--env={name}={value}" for name, value in environment.items()]
        # Mounts the file and not its folder: the container runs as another user, who cannot read the folder.
        bundle = environment.get("AWS_CA_BUNDLE")
        files = [f"--volume={bundle}:{bundle}:ro"] if bundle else []
        start = ["docker", "run", "--rm", "--init", "--network=host", f"--name={self._name}", *self._limits]
        return [*start, *variables, *files, f"--entrypoint={program}", IMAGE, *arguments]

    def attach(self, pid: int) -> None:
        """Starts one shell for all calls of `_read`. A `docker exec` for each would cost the container 20 ms of CPU."""
        command = ["docker", "exec", "--interactive", self._name, "sh"]
        self._shell = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def cpu_seconds(self) -> float:
        words = self._read(FILES[self._version][0])
        if self._version == "1":
            return int(words[0]) / 1e9
        return int(words[words.index("usage_usec") + 1]) / 1e6

    def peak_bytes(self) -> int | None:
        """Returns the highest memory use in bytes, or None with cgroup v2 before Linux 5.19."""
        words = self._read(FILES[self._version][1])
        return int(words[0]) if words else None

    def _read(self, file: str) -> list[str]:
        """Returns the words of a file below /sys/fs/cgroup in the container, or [] if there is no such file."""
        assert self._shell is not None, "attach comes first"
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"echo $(cat /sys/fs/cgroup/{file})\n")
        self._shell.stdin.flush()
        return self._shell.stdout.readline().split()

    def close(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["docker", "rm", "--force", self._name], capture_output=True, check=False, timeout=ANSWER_SECONDS
            )
        if self._shell is not None:
            self._shell.kill()
            self._shell.communicate()


def _docker(*command: str) -> str:
    # BuildKit is the default since Docker 23. Without it, Docker would build every stage, including the tests.
    # https://docs.docker.com/build/buildkit/
    environment = os.environ | {"DOCKER_BUILDKIT": "1"}
    seconds = BUILD_SECONDS if command[0] == "build" else ANSWER_SECONDS
    try:
        ended = subprocess.run(
            ["docker", *command], env=environment, capture_output=True, encoding="utf-8", check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"docker {command[0]}: no answer within {seconds} s") from None
    if ended.returncode:
        raise Unavailable(f"docker {command[0]}: {ended.stderr.strip()}")
    return ended.stdout.strip()
