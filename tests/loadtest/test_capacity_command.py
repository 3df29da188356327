"""`python -m loadtest capacity`."""

import subprocess
import sys

import pytest

from loadtest.capacity import lines
from loadtest.capacity_calculation import capacity
from tests.harness.service import clean_environment


def run(*arguments: str, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *python, "-m", "loadtest", "capacity", *arguments]
    return subprocess.run(
        command, env=clean_environment(), capture_output=True, encoding="utf-8", check=False, timeout=60
    )


def test_the_row() -> None:
    """The command prints a line for each figure, as the function computes it. It loads no service and no SDK."""
    options = ["--processing", "2", "--body-bytes", "2000", "--fifo", "--cpu-ms", "0.4"]
    ended = run("--rate", "5000", *options, python=("-X", "importtime"))
    row = capacity(5_000, processing=2, body_bytes=2_000, fifo=True, cpu_ms=0.4)
    shown = dict([part.strip() for part in line.split("  ", 1)] for line in ended.stdout.splitlines())
    assert shown == lines(row)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ended.stderr.splitlines()}
    assert imported & {"fastapi", "uvicorn", "boto3", "botocore", "aiohttp"} == set()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--rate", "0"], "Error: --rate 0: allowed is more than 0, at most 1,000,000,000\n"),
        (["--rate", "nan"], "Error: --rate nan: allowed is more than 0, at most 1,000,000,000\n"),
        (["--rate", "1", "--processing", "-5"], "Error: --processing -5: allowed is more than 0, at most 43,200\n"),
        (["--rate", "1", "--body-bytes", "2000000"], "--body-bytes 2000000: allowed is more than 0, at most 1,044,480"),
        (["--rate", "many"], "'many' is not a valid float"),
        ([], "Missing option '--rate'"),
    ],
    ids=str,
)
def test_a_wrong_number_is_refused(arguments: list[str], expected: str) -> None:
    """The exit code is 2, and the error has the value and what is allowed."""
    ended = run(*arguments)
    assert ended.returncode == 2
    assert expected in ended.stderr
    assert "Traceback" not in ended.stderr
