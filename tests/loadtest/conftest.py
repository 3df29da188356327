"""Provides vegeta and toxiproxy-server on PATH, as attack.sh does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness.missing import require_go

ROOT = Path(__file__).parents[2]
BIN = ROOT / "loadtest" / "tools" / "bin"


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    """Builds the pinned vegeta and toxiproxy once. Go is not needed if the programs were built earlier."""
    built = [BIN / tool for tool in ("vegeta", "toxiproxy-server")]
    if not all(tool.exists() for tool in built):
        require_go()
    if shutil.which("go") is not None:
        subprocess.run(["make", "--silent", *(str(tool.relative_to(ROOT)) for tool in built)], cwd=ROOT, check=True)
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
