"""Runs workers, kills one of them with SIGKILL every few seconds, and starts it again at once."""

import random
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from loadtest.record.folders import ROOT
from loadtest.stage.worker_stage import STOP_SECONDS, require_running
from loadtest.stage.worker_stage import environment as worker_environment

BETWEEN = (2.0, 6.0)


class Workers:
    """A context that runs `number` workers. `kills`: the number of kills so far.

    `retry_s` is the longest delay, in seconds, before a worker's first retry of a message.
    """

    def __init__(
        self, number: int, environment: dict[str, str], log: Path, *, retry_s: float, seed: int, killed: bool
    ) -> None:
        self.kills = 0
        self._number, self._log = number, log
        self._command = [sys.executable, "-m", "loadtest.stage.retrying_worker", f"{retry_s:g}"]
        self._environment = worker_environment(environment)
        self._random = random.Random(seed)  # noqa: S311  # no secret
        self._killed = killed
        self._victim: subprocess.Popen[bytes] | None = None  # the worker that is being killed and replaced
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._kill_on, daemon=True)

    def __enter__(self) -> Self:
        self._output = self._log.open("ab")
        self._processes = [self._start(self._output) for _ in range(self._number)]
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end_kills()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._output.close()

    def check(self) -> None:
        """Raises ChildProcessError, with the log's last line, if a worker has ended by itself."""
        for process in self._processes:
            # Poll before comparing: the other thread sets `_victim` before it kills, so no killed worker is reported.
            if process.poll() is not None and process is not self._victim:
                require_running(process, self._log)

    def end_kills(self) -> None:
        self._ended.set()
        self._thread.join()

    def _start(self, output: IO[bytes]) -> "subprocess.Popen[bytes]":
        # In a new session, so that Ctrl-C in the terminal ends only the load test, which then stops its workers.
        return subprocess.Popen(
            self._command, env=self._environment, cwd=ROOT, stdout=output, stderr=output, start_new_session=True
        )

    def _kill_on(self) -> None:
        """Kills and replaces random workers, until `end_kills` is called.

        Does nothing if `killed` is false. A worker that ends by itself is not replaced: `check` raises an error.
        """
        while self._killed and not self._ended.wait(self._random.uniform(*BETWEEN)):
            which = self._random.randrange(self._number)
            victim = self._processes[which]
            if victim.poll() is not None:
                return  # the worker has ended by itself: `check` raises the error
            self._victim = victim
            victim.kill()
            victim.wait()
            self.kills += 1
            self._processes[which] = self._start(self._output)
