"""Runs attack.sh as a user does, and services that lose accepted webhooks."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.ports import START_SECONDS, free_port
from local.readiness import is_listening, wait_until_ready

ROOT = Path(__file__).parents[2]
ATTACK = ROOT / "loadtest" / "attack.sh"


def environment(**more: str) -> dict[str, str]:
    """Returns the environment without APP_ and AWS_ variables. Makes attack.sh use the tests' Python and packages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("APP_", "AWS_", "LOADTEST_"))}
    return kept | {"LOADTEST_PYTHON": sys.executable} | more


def attack(*arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Runs attack.sh until it exits."""
    return subprocess.run(
        [str(ATTACK), *arguments],
        env=environment(**more),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=250,
    )


def meta(out: Path) -> dict[str, Any]:
    """Returns the measurement in meta.json."""
    measurement: dict[str, Any] = json.loads((out / "meta.json").read_text(encoding="utf-8"))["measurement"]
    return measurement


@contextmanager
def careless(fault: str, endpoint: str, queue_url: str) -> Iterator[str]:
    """Starts `careless_service.py` with `fault` on a queue, and yields its URL."""
    port = free_port()
    command = [sys.executable, "-m", "tests.loadtest.careless_service", fault, str(port), endpoint, queue_url]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            wait_until_ready(process, lambda: is_listening(port), START_SECONDS)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
