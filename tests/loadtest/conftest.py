"""The tools on PATH, as in attack.sh, and a browser."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.harness.browser import CHROMIUM, chromium

ROOT = Path(__file__).parents[2]
BIN = ROOT / "loadtest" / "tools" / "bin"


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    """Builds the pinned vegeta and toxiproxy once."""
    targets = [f"loadtest/tools/bin/{tool}" for tool in ("vegeta", "toxiproxy-server")]
    subprocess.run(["make", "--silent", *targets], cwd=ROOT, check=True)
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None, "the page's test requires Chromium (Debian: apt install chromium)"
    with chromium() as opened:
        yield opened
