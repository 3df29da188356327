"""Skips tests whose programs are not installed, and shows the reason. In CI, which installs them, such a test fails."""

import os
import shutil
from typing import NoReturn

import pytest

CI = "CI" in os.environ


def missing(reason: str) -> NoReturn:
    """Skips the test with the reason, or fails it in CI."""
    (pytest.fail if CI else pytest.skip)(reason)


def require_go() -> None:
    """Skips the test if Go is not on PATH, or fails it in CI."""
    if shutil.which("go") is None:
        missing("Go is not on PATH; `make test` brings it")
