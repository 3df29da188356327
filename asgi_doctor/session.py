"""One session of the doctor: imports the app, serves it under the watchdog, and returns the findings."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from asgi_doctor import deadline
from asgi_doctor.errors import START_FAILED, DoctorError
from asgi_doctor.finding import Finding
from asgi_doctor.load import AT_ONCE, Request, send_all
from asgi_doctor.middleware import routed, unwatchable
from asgi_doctor.page import page
from asgi_doctor.report import SAID_AT_ONCE, blocking, other
from asgi_doctor.startup import Startup
from asgi_doctor.target import load
from asgi_doctor.watchdog import Watchdog

if TYPE_CHECKING:
    from asgi_doctor.serve import WatchedServer


@dataclass(frozen=True)
class Wanted:
    """The options of a session.

    `seconds`: how long to serve. None means until all requests of `send` are answered or, if there are none, until a
    signal. `port`: None means port 8000 or, if there are requests in `send`, any free port.
    """

    target: str
    factory: bool = False
    host: str = "127.0.0.1"
    port: int | None = None
    loop: str = "auto"
    warn: float = 0.1
    seconds: float | None = None
    page: bool = True
    send: Sequence[Request] = ()
    at_once: int = AT_ONCE


@dataclass(frozen=True)
class Result:
    """The findings of a session, the longest total first.

    `seen`: the number of completely answered requests, or the attached process, as text. `failed`: uvicorn's exit code
    if the application's start-up has failed or hangs, otherwise 0. `refused`: True if any request of `Wanted.send`
    got only errors as responses.
    """

    findings: list[Finding]
    seen: str
    failed: int = 0
    refused: bool = False


Say = Callable[[str], None]
Leave = Callable[[Result], None]


def run(wanted: Wanted, say: Say, complain: Say, leave: Leave) -> Result:
    """Serves for `wanted.seconds`, until the requests of `wanted.send` are answered, or until a signal.

    `say` receives each line for standard output, and `complain` each line for standard error. If `wanted.seconds` is
    given and the start hangs, this function cannot return. Another thread then calls `leave`, which must end the
    process. Raises DoctorError if the application cannot be imported, served or watched.
    """
    if find_spec("uvicorn") is None:
        raise DoctorError("the doctor serves with uvicorn, which is not installed: pip install uvicorn")
    if wanted.loop == "uvloop" and find_spec("uvloop") is None:
        raise DoctorError("--loop uvloop: it is not installed: pip install uvloop")
    session = _Session(wanted, say, complain, leave)
    with suppress(KeyboardInterrupt):  # Ctrl-C during the import, before uvicorn handles signals
        session.serve()
    return session.result()


class _Session:
    """Serves the application once. `requests`: the number of answered requests. `failed`, `refused`: see `Result`."""

    def __init__(self, wanted: Wanted, say: Say, complain: Say, leave: Leave) -> None:
        self._wanted, self._say, self._complain, self._leave = wanted, say, complain, leave
        self.watchdog = Watchdog(
            wanted.warn,
            lambda *found: say(blocking(*found)),
            lambda finding: say(other(finding)) if finding.kind in SAID_AT_ONCE else None,
        )
        self._startup = Startup(wanted.warn)
        self._deadline: deadline.Deadline | None = None
        self._open = ExitStack()
        self.requests = self.failed = 0
        self.refused = False

    def serve(self) -> None:
        from asgi_doctor.serve import bind, serve  # needs uvicorn

        wanted = self._wanted
        port = (0 if wanted.send else 8000) if wanted.port is None else wanted.port
        with self._open, bind(wanted.host, port) as listener:
            self._startup.start()
            self._open.callback(self._end_start)
            if wanted.seconds is not None:
                self._deadline = deadline.Deadline(max(wanted.seconds, deadline.LEAST_SECONDS), self._give_up)
            app = routed(load(wanted.target, factory=wanted.factory))
            if why := unwatchable(app):
                raise DoctorError(f"{wanted.target} cannot be watched: {why}")
            if self._deadline is not None:
                self._deadline.imported()
            try:
                self.requests = serve(
                    app,
                    listener,
                    self.watchdog,
                    started=lambda server: self._started(server, listener.getsockname()[1]),
                    stopping=lambda: self._complain("Stopping; a second signal ends at once"),
                    loop=wanted.loop,
                    seconds=wanted.seconds,
                )
            except SystemExit as error:  # SystemExit without a code means success
                self.failed = error.code if isinstance(error.code, int) else int(error.code is not None)

    def result(self) -> Result:
        seen = f"{self.requests} {'request' if self.requests == 1 else 'requests'}"
        return Result(self.watchdog.findings, seen, self.failed, self.refused)

    def _give_up(self, missed: str) -> None:
        self.failed = START_FAILED
        try:
            self._end_start()
            self._complain(f"error: --for {self._wanted.seconds:g}: the start of {self._wanted.target} {missed}")
        finally:
            self._leave(self.result())

    def _end_start(self) -> None:
        if self._deadline is not None:
            self._deadline.met()
        for finding in self._startup.stop():
            self.watchdog.collected.add(finding)

    def _started(self, server: "WatchedServer", port: int) -> None:
        self._end_start()
        wanted = self._wanted
        self._say(f"Serving {wanted.target} on http://{_shown(wanted.host)}:{port}")
        if wanted.page:
            self._say(f"Page on {self._open.enter_context(page(wanted.target, lambda: self.watchdog.findings))}")
        if wanted.send:
            threading.Thread(target=self._send, args=(server, port), daemon=True).start()

    def _send(self, server: "WatchedServer", port: int) -> None:
        """Sends the requests of --send. Then ends the session, unless the user has given --for."""
        code = send_all(self._wanted.host, port, self._wanted.at_once, self._wanted.send, self._say)
        self.refused = code == 1  # `code` is negative if a signal ended the process, as with Ctrl-C
        if self._wanted.seconds is None:
            server.finish()


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
