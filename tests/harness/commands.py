"""Runs commands as processes, and `python -m local run` on free ports."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from app.errors import ConfigurationError
from local.local_run import read_run
from tests.harness.service import Web, clean_environment


def run(
    *arguments: str, module: str = "app", extra: dict[str, str] | None = None, **settings: object
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m app …` until it ends."""
    command = [sys.executable, "-m", module, *arguments]
    environment = clean_environment(**settings) | (extra or {})
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=200)


def run_local(
    *arguments: str, run_dir: Path | None = None, extra: dict[str, str] | None = None, **settings: object
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m local …` until it ends. `run_dir`: the folder of the local run."""
    ours = settings if run_dir is None else {"local_run_dir": run_dir, **settings}
    return run(*arguments, module="local", extra=extra, **ours)


class LocalRunProcess(Web):
    """Runs `python -m local run` on free ports, without a worker unless `settings` enable one."""

    def __init__(self, run_dir: Path, extra: dict[str, str] | None = None, **settings: object) -> None:
        ports = {"port": 0, "metrics_port": 0, "local_live_port": 0, "local_worker": 0, "local_run_dir": run_dir}
        environment = clean_environment(**(ports | settings)) | (extra or {})
        super().__init__(environment, command=[sys.executable, "-m", "local", "run"])
        self._run_dir = run_dir

    def _announced(self) -> str | None:
        with suppress(ConfigurationError):
            return read_run(self._run_dir).url
        return None
