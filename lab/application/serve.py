"""The lab's processes: uvicorn's own supervisor and its workers, as with `uvicorn --workers`, with an end that is
bounded.

Read in uvicorn 0.54 (supervisors/multiprocess.py), which would wait without end for a worker whose loop or threads are
blocked, restart the workers when the terminal closes, and replace a worker that dies: here that ends all of them, since
a measurement with fewer is none.
"""

import multiprocessing
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable

import psutil
import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from app.errors import ConfigurationError
from app.settings.text import http_url
from lab.settings import LabSettings

# How long requests may go on after the signal, and how long after that a worker may live whose loop or threads block.
GRACE_SECONDS = 2
LAST_SECONDS = 2
_START_SECONDS = 1.0


class Worker(Process):
    """uvicorn's, which ends when its parent has gone in whatever way."""

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        threading.Thread(target=_end_with_parent, daemon=True).start()
        # uvicorn raises the signal again once it has shut down, which would end the process before an ordinary exit.
        for sig in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sig, self._leave)
        super().target(sockets)

    def _leave(self, *_: object) -> None:
        if not self.server.started:  # and is not starting either: by then, uvicorn's own handlers are there
            os._exit(0)


class Workers(Multiprocess):
    """`listening` is called once, when every worker accepts: uvicorn's parent asks each whether its server has started.

    It asks twice a second, so the call comes up to half a second late.
    """

    def __init__(self, config: uvicorn.Config, door: socket.socket, listening: Callable[[], None]) -> None:
        super().__init__(config, [door])
        self._listening: Callable[[], None] | None = listening
        self.failed = False

    def init_processes(self) -> None:
        for _ in range(self.processes_num):
            worker = Worker(self.config, self.sockets)
            worker.start()
            self.processes.append(worker)

    def keep_subprocess_alive(self) -> None:
        """Called twice a second."""
        if self.should_exit.is_set() or self.signal_queue:
            return
        if any(not worker.process.is_alive() for worker in self.processes):
            self.failed = True
            self.should_exit.set()
        elif self._listening and all(worker.is_ready(_START_SECONDS) for worker in self.processes):
            self._listening()
            self._listening = None

    def join_all(self) -> None:
        """At most GRACE_SECONDS + LAST_SECONDS, after which workers are killed with the processes they have started."""
        deadline = time.monotonic() + GRACE_SECONDS + LAST_SECONDS
        for worker in self.processes:
            worker.process.join(max(0, deadline - time.monotonic()))
        for worker in self.processes:
            if worker.process.is_alive():
                _kill(psutil.Process(worker.process.pid))
                worker.process.join()

    def handle_hup(self) -> None:
        """The terminal has closed."""
        self.should_exit.set()


def serve(settings: LabSettings, listening: Callable[[str], None]) -> None:
    """Until SIGINT, SIGTERM or SIGHUP; `listening` gets the URL. Raises ConfigurationError where a worker does not
    start, or ends.
    """
    # A waiting request is an open connection, and one more where it waits for the upstream.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with _bind(settings) as door:
        url = http_url(settings.host, door.getsockname()[1])
        workers = Workers(_config(settings), door, lambda: listening(url))
        workers.run()
    if workers.failed:
        raise ConfigurationError("a worker of the lab has ended (see its error above)")


def _config(settings: LabSettings) -> uvicorn.Config:
    return uvicorn.Config(
        "lab.application.main:from_environment",
        factory=True,
        workers=settings.workers,
        loop=settings.loop,
        http=settings.http,
        ws="none",
        backlog=settings.backlog,
        limit_concurrency=settings.limit_concurrency,
        timeout_graceful_shutdown=GRACE_SECONDS,
        log_level="error",
        access_log=False,
    )


def _bind(settings: LabSettings) -> socket.socket:
    """Not listening: that is left to the workers, so that a connection before is refused, and does not wait."""
    door = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((settings.host, settings.port))
    except OSError as error:
        door.close()
        raise ConfigurationError(
            f"APP_LAB_HOST={settings.host}, APP_LAB_PORT={settings.port}: {error.strerror}; use a free port"
        ) from None
    return door


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _kill(process: psutil.Process) -> None:
    for one in [*process.children(recursive=True), process]:
        one.kill()
