"""APP_WORKERS > 1: several processes accept from one listening socket.

The socket belongs to all of them, so it is the parent that turns newcomers away, and its workers close
their copies a moment later.
"""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from multiprocessing.connection import wait

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import multiprocess

from app.web import listener

# uvicorn's supervisor looks for signals every half second; a worker's stop waits that long for its parent.
HEAD_START_SECONDS = 0.5
# Tells a worker to stop without the drain delay: SIGINT reaches it from the terminal already, and is ignored.
HURRY = signal.SIGUSR1


class _Worker(multiprocess.Process):
    @property
    def server(self) -> uvicorn.Server:
        from app.web.server import Server  # which imports this module, and runs in the child alone

        if self._server is None:
            self._server = Server(config=self.config)
        return self._server

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().target(sockets)


def _end_with_parent() -> None:
    """A parent that was killed cannot say goodbye: drain as if it had."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)


class _Supervisor(multiprocess.Multiprocess):
    drain_delay: float

    def handle_int(self) -> None:
        """Ctrl-C: no drain delay."""
        self.drain_delay = 0
        super().handle_int()

    def terminate_all(self) -> None:
        for worker in self.processes:
            _send(worker, signal.SIGTERM if self.drain_delay else HURRY)

    def join_all(self) -> None:
        """The workers drain; at the end nobody new comes in. Each further signal is passed on: it ends them now."""
        turn_away_at = time.monotonic() + self.drain_delay
        turned_away = False
        while any(worker.process.is_alive() for worker in self.processes):
            if self.signal_queue:
                self.signal_queue.clear()
                for worker in self.processes:
                    _send(worker, signal.SIGTERM)
            if not turned_away and time.monotonic() >= turn_away_at:
                turned_away = True
                for door in self.sockets:
                    listener.turn_away(door)
            time.sleep(0.05)
        super().join_all()


def _send(worker: multiprocess.Process, sig: signal.Signals) -> None:
    if worker.pid is not None and worker.process.is_alive():
        os.kill(worker.pid, sig)


def supervise(config: uvicorn.Config, door: socket.socket, drain_delay: float) -> None:
    """Runs `config.workers` processes until a signal, and starts a new one for each that dies.

    Ends the process with uvicorn's code 3 where a worker could not start.
    """
    multiprocess.Process = _Worker  # type: ignore[misc]  # uvicorn's supervisor offers no other way
    supervisor = _Supervisor(config, sockets=[door])
    supervisor.drain_delay = drain_delay
    supervisor.run()
    if any(worker.exitcode == STARTUP_FAILURE for worker in supervisor.processes):
        sys.exit(STARTUP_FAILURE)
