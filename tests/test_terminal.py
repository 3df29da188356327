"""Tests that commands on a terminal honour NO_COLOR and TERM=dumb."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.harness.service import clean_environment

LOG = """
from app.settings import WebSettings
from app.telemetry.logging import configure_logging, logger
configure_logging(WebSettings())
logger.info("a line")
"""
DIFF = ["-m", "local", "diff", "v03", "v04"]
COUNT = ["-c", "from app.cli import count; count('7')"]


def output(command: list[str], **variables: str) -> str:
    """Returns what the command writes on a terminal."""
    ours, its = os.openpty()
    environment = clean_environment() | {"TERM": "xterm", **variables}
    with subprocess.Popen([sys.executable, *command], env=environment, stdout=its, stderr=its):
        os.close(its)
        found = b""
        with suppress(OSError):  # the terminal has ended
            while part := os.read(ours, 4096):
                found += part
    os.close(ours)
    return found.decode()


@pytest.mark.parametrize("command", [DIFF, ["-c", LOG]], ids=["diff", "log"])
def test_colours(command: list[str]) -> None:
    """A command colours its output on a terminal, unless NO_COLOR or TERM=dumb is set."""
    assert "\x1b[" in output(command)
    assert "\x1b[" in output(command, NO_COLOR="")
    assert "\x1b" not in output(command, NO_COLOR="1")
    assert "\x1b" not in output(command, TERM="dumb")


def test_progress() -> None:
    """A command draws its progress on a terminal, also without colours, unless TERM=dumb is set."""
    assert output(COUNT) == output(COUNT, NO_COLOR="1") == "\r7"
    assert output(COUNT, TERM="dumb") == ""
