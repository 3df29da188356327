"""The tools on PATH, as in attack.sh."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = ROOT / "loadtest" / "tools" / "bin"


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    """Builds the pinned vegeta and toxiproxy once."""
    targets = [f"loadtest/tools/bin/{tool}" for tool in ("vegeta", "toxiproxy-server")]
    subprocess.run(["make", "--silent", *targets], cwd=ROOT, check=True)
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
