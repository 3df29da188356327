"""Runs a service and restarts it on the same port whenever it ends, as the kubelet does with a container."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from loadtest.stage import subject
from loadtest.stage.budget import open_budget
from loadtest.stage.subject import START_SECONDS, STOP_SECONDS, AttackSubject
from local.ports import free_port

POLL_SECONDS = 0.2
MIB = 1024 * 1024


class Supervised:
    """A context that runs a service and restarts it whenever it ends. The context begins when the service is ready.

    `starts`: the number of starts so far. `peak_mib`: the highest resident memory of the service, in MiB.
    """

    def __init__(self, what: AttackSubject, stack: dict[str, str], log: Path) -> None:
        self._what, self._stack, self._log = what, stack, log
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.starts = 0
        self.peak_mib = 0.0
        self._pid: int | None = None
        self._ready = threading.Event()
        self._ended = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        # Wait longer than `subject.start`: it gives up after START_SECONDS, and needs up to STOP_SECONDS to clean up.
        try:
            if not self._ready.wait(START_SECONDS + 2 * STOP_SECONDS):
                raise TimeoutError(f"the service was not ready within {START_SECONDS} s")
            self._raise()
        except BaseException:
            # If `__enter__` raises, Python does not call `__exit__`, so the service would keep running. `join` returns
            # when `subject.start` has succeeded or failed.
            self._ended.set()
            self._thread.join()
            raise
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._raise()

    def signal(self, number: int) -> None:
        """Sends the signal to the service. Does nothing if the service is not ready."""
        if self._ready.is_set() and self._pid is not None:
            psutil.Process(self._pid).send_signal(number)

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                self._one()
        except Exception as error:
            self._failure = error
            self._ready.set()

    def _one(self) -> None:
        """Runs the service once, until the service or the context ends."""
        with (
            open_budget("none") as budget,
            subject.start(self._what, budget, self._stack, self._log, port=self._port) as running,
        ):
            self.starts += 1
            self._pid = running.pid
            process = psutil.Process(running.pid)
            self._ready.set()
            while not self._ended.wait(POLL_SECONDS):
                if process.status() == psutil.STATUS_ZOMBIE:
                    break
                self.peak_mib = max(self.peak_mib, process.memory_info().rss / MIB)
            self._ready.clear()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure
