"""Runs `python -m asgi_doctor` as a process, for tests."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM, Signals

import httpx

from tests.harness.service import NO_CAS, clean_environment

ROOT = Path(__file__).parents[2]
PATIENCE = 60


class DoctorProcess:
    """A running doctor. `line` waits for its output."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.output = ""
        first = self.line("Serving shop:app on ")
        self.client = httpx.Client(base_url=first.split()[-1], timeout=PATIENCE, verify=NO_CAS)

    def line(self, text: str) -> str:
        """Returns the next line with `text`."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if text in line:
                return line
        raise AssertionError(f"no {text!r} in {self.output}")

    def end(self, sig: Signals = SIGTERM) -> tuple[int, str]:
        """Returns the exit code, and the output after the signal."""
        self.process.send_signal(sig)
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, rest


def command(*arguments: str, module: tuple[str, ...] = ("asgi_doctor",)) -> list[str]:
    return [sys.executable, "-m", *module, *arguments]


def environment() -> dict[str, str]:
    """Returns an environment in which Python finds the doctor although the shop's folder is outside of this project."""
    return clean_environment() | {"PYTHONPATH": str(ROOT)}


@contextmanager
def doctor(shop: Path, *options: str, module: tuple[str, ...] = ("asgi_doctor",)) -> Iterator[DoctorProcess]:
    """Starts the doctor in the folder with shop.py."""
    process = subprocess.Popen(
        command("shop:app", "--port", "0", *options, module=module),
        cwd=shop,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    with process:
        try:
            running = DoctorProcess(process)
            with running.client:
                yield running
        finally:
            process.kill()
