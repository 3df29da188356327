"""The service as a child process, in local mode on a free port: for demos and measurements."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from app.errors import ConfigurationError
from app.local.process import is_ready, wait_until_ready
from app.local.run import BROUGHT, LocalRun, read_run

START_SECONDS = 90  # on a busy machine; on an idle one it takes two or three
STOP_SECONDS = 5
NONE: Mapping[str, str] = MappingProxyType({})


def unlimited() -> dict[str, str]:
    """Variables: v01 is to show that it waits, not that a test site takes 150 calls a minute."""
    return {"APP_CHARGEBEE_RATE": os.environ.get("APP_CHARGEBEE_RATE", "1000000")}


@contextmanager
def start_service(run_dir: Path, variables: Mapping[str, str] = NONE) -> Iterator[LocalRun]:
    """`python -m app web`, with the settings of this environment and `variables`; stopped at the end.

    Raises ConfigurationError.
    """
    environment = os.environ | {"APP_LOCAL": "1", "APP_PORT": "0", "APP_RUN_DIR": str(run_dir), **variables}
    environment.setdefault("APP_LOG_LEVEL", "ERROR")
    for name in (*BROUGHT, "APP_LIVE_PORT"):
        environment.pop(name, None)
    process = subprocess.Popen([sys.executable, "-m", "app", "web"], env=environment)
    try:
        yield _ready(process, run_dir)
    except KeyboardInterrupt:
        # Ctrl-C in the terminal has reached the service too; a second signal would abort its graceful shutdown.
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        raise
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _ready(process: "subprocess.Popen[bytes]", run_dir: Path) -> LocalRun:
    def run() -> LocalRun | None:
        with suppress(ConfigurationError):  # it has not written its file yet
            found = read_run(run_dir)
            return found if found.url is not None and is_ready(found.url) else None
        return None

    try:
        return wait_until_ready(process, run, START_SECONDS)
    except (ChildProcessError, TimeoutError):
        raise ConfigurationError(f"the service was not ready within {START_SECONDS} s (see its error above)") from None
