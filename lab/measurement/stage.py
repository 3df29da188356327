"""Runs a question's application for a measurement, beside Postgres and the slow upstream."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lab.measurement.beside import Beside
from loadtest.stage import budget, subject
from loadtest.stage.subject import AttackSubject
from loadtest.stage.tree import cpu_seconds, tree

MIB = 1024 * 1024


@dataclass(frozen=True)
class Served:
    """A running application. `log`: the file with the output of its processes."""

    url: str
    pid: int
    log: Path

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def mib(self) -> float:
        """Returns the memory of all processes of the application in MiB. Pages that processes share count once."""
        return sum(process.memory_full_info().pss for process in tree(self.pid)) / MIB

    def end(self, sig: signal.Signals = signal.SIGTERM, patience: float = 60) -> None:
        """Sends the signal `sig`, and waits for the process to end. Raises psutil.TimeoutExpired after `patience` s."""
        process = psutil.Process(self.pid)
        process.send_signal(sig)
        process.wait(patience)


@dataclass(frozen=True)
class Stage:
    """Runs applications for a measurement. `beside`: the upstream and Postgres. `folder`: the folder for the log.

    `quick`: True for a trial run with shorter loads. `doubts`: reasons why CPU and memory may not have been limited.
    """

    beside: Beside
    folder: Path
    quick: bool
    doubts: list[str] = field(default_factory=list)

    def seconds(self, usual: float) -> float:
        return min(usual, 1.0) if self.quick else usual

    @contextmanager
    def serve(
        self, command: list[str], within: str = "none", *, port: str = "UVICORN_PORT", **variables: str
    ) -> Iterator[Served]:
        """Runs the application `command` until the context ends. The budget `within` limits CPU and memory.

        `port`: the name of the environment variable that tells the application its port. `variables`: settings of the
        lab, without the prefix APP_LAB_.
        """
        ours = self.beside.environment(database=self.beside.database is not None)
        ours |= {f"APP_LAB_{name.upper()}": value for name, value in variables.items()}
        what = AttackSubject("lab", command, {}, enqueues=False, port=port, ready="/openapi.json")
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "service.log"
        log.unlink(missing_ok=True)
        with budget.open_budget(within) as limits, subject.start(what, limits, ours, log) as running:
            self.doubts.extend(budget.doubts(within, limits))
            yield Served(running.url, running.pid, log)


def uvicorn(question: str, *options: str) -> list[str]:
    """Returns the command that serves the application of `question` with uvicorn."""
    quiet = ("--log-level", "warning", "--no-access-log")
    return [sys.executable, "-m", "uvicorn", f"lab.questions.{question}:app", *quiet, *options]
