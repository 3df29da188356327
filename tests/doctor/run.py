"""Runs one case under the doctor: serves it, sends its requests, and reads the findings."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.doctor.case import Case
from tests.doctor.judge import Reported
from tests.doctor.load import send_all

ROOT = Path(__file__).parents[2]
PATIENCE = 120


class Failed(Exception):
    """The case could not be run: `str()` says why."""


def under_doctor(case: Case, loop: str, variables: dict[str, str]) -> list[Reported]:
    """Returns the doctor's findings. Raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "findings.json"
        command = ["-m", "asgi_doctor", f"{case.name}:app", "--no-page", "--loop", loop, "--json", str(written)]
        with served(case, [*command, "--port", "0"], variables) as port:
            send(case, port)
        if not written.exists():
            raise Failed("the doctor wrote no findings")
        return [
            Reported(one["file"], one["line"], one["function"], one["kind"], one["route"], one["cure"])
            for one in json.loads(written.read_text(encoding="utf-8"))["findings"]
        ]


def send(case: Case, port: int) -> None:
    """Sends the requests of the case. Raises Failed if not all of them succeed."""
    answers = asyncio.run(send_all(port, case.send))
    if wrong := [answer for answer in answers if not 200 <= answer < 300]:
        raise Failed(f"{len(wrong)} of {len(answers)} requests failed: {sorted(set(wrong))}")


@contextmanager
def served(case: Case, command: list[str], variables: dict[str, str], output: list[str] | None = None) -> Iterator[int]:
    """Starts `python COMMAND` in the case's folder. Yields the port that the process prints, and ends the process.

    `output` receives the lines of the process.
    """
    lines = output if output is not None else []
    # Without a measurement of coverage: it slows the application down, which the doctor would report.
    unwanted = ("_PROXY", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
    environment = {name: value for name, value in os.environ.items() if not name.upper().endswith(unwanted)}
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=case.file.parent,
        env=environment | variables | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    killer = threading.Timer(PATIENCE, process.kill)
    killer.start()
    reading = threading.Thread(target=_read, args=(process, lines), daemon=True)
    try:
        port = _port(process, lines)
        reading.start()
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        if reading.ident is not None:
            reading.join(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()
        killer.cancel()


def _port(process: "subprocess.Popen[str]", lines: list[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if serving := re.search(r"^Serving .*:(\d+)$", line):
            return int(serving[1])
    raise Failed("".join(lines[-5:]))


def _read(process: "subprocess.Popen[str]", lines: list[str]) -> None:
    assert process.stdout is not None
    lines.extend(process.stdout)
