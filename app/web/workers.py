"""APP_WORKERS > 1: several processes accept from one listening socket.

The socket belongs to all of them, so it is the parent that turns newcomers away, and its workers close
their copies a moment later.
"""

import socket
import time

import uvicorn
from uvicorn.supervisors import multiprocess

from app.web import listener

# uvicorn's supervisor looks for signals every half second; a worker's stop waits that long for its parent.
HEAD_START_SECONDS = 0.5


class _Worker(multiprocess.Process):
    @property
    def server(self) -> uvicorn.Server:
        from app.web.server import Server  # which imports this module, and runs in the child alone

        if self._server is None:
            self._server = Server(config=self.config)
        return self._server


class _Supervisor(multiprocess.Multiprocess):
    drain_delay: float

    def join_all(self) -> None:
        """The workers drain; at the end nobody new comes in. A second signal ends them now."""
        draining_until = time.monotonic() + self.drain_delay
        while time.monotonic() < draining_until and not self.signal_queue:
            time.sleep(0.05)
        if self.signal_queue:
            for worker in self.processes:
                if worker.pid is not None and worker.process.is_alive():
                    worker.process.terminate()
        for door in self.sockets:
            listener.turn_away(door)
        super().join_all()


def supervise(config: uvicorn.Config, door: socket.socket, drain_delay: float) -> None:
    """Runs `config.workers` processes until a signal, and starts a new one for each that dies."""
    multiprocess.Process = _Worker  # type: ignore[misc]  # uvicorn's supervisor offers no other way
    supervisor = _Supervisor(config, sockets=[door])
    supervisor.drain_delay = drain_delay
    supervisor.run()
