"""One session of the doctor: imports the app, serves it under the watchdog, and returns what was found."""

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from asgi_doctor.errors import DoctorError
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.middleware import routed
from asgi_doctor.page import page
from asgi_doctor.report import blocking, other
from asgi_doctor.startup import Startup
from asgi_doctor.target import load
from asgi_doctor.watchdog import Watchdog

_LOAD = Path(__file__).with_name("load.py")


@dataclass(frozen=True)
class Wanted:
    """The options of a session. `seconds` is None for a session that a signal or the end of `send` ends."""

    target: str
    factory: bool = False
    host: str = "127.0.0.1"
    port: int = 8000
    loop: str = "auto"
    warn: float = 0.1
    seconds: float | None = None
    page: bool = True
    send: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Result:
    """The findings of a session, the longest total first, and the number of requests that the application received."""

    findings: list[Finding]
    requests: int


def run(wanted: Wanted, say: Callable[[str], None], complain: Callable[[str], None]) -> Result:
    """Serves until a signal, for the given time, or until the built-in load has ended. Raises DoctorError.

    `say` receives each line for standard output, `complain` each for standard error.
    """
    try:
        from asgi_doctor.serve import WatchedServer, bind, serve  # needs uvicorn
    except ModuleNotFoundError as error:
        raise DoctorError(f"{error}: the doctor serves with uvicorn: pip install uvicorn") from None
    watchdog = Watchdog(
        wanted.warn,
        lambda *found: say(blocking(*found)),
        lambda finding: say(other(finding)) if finding.kind in {Kind.STARVES, Kind.MANY_SHORT, Kind.STARTUP} else None,
    )
    with ExitStack() as stack:
        listener = stack.enter_context(bind(wanted.host, wanted.port))
        port = listener.getsockname()[1]
        starting = Startup(wanted.warn).start()
        stack.callback(starting.stop)
        app = routed(load(wanted.target, factory=wanted.factory))

        def started(server: WatchedServer) -> None:
            for finding in starting.stop():
                watchdog.collected.add(finding)
            say(f"Serving {wanted.target} on http://{_shown(wanted.host)}:{port}")
            if wanted.page:
                say(f"Page on {stack.enter_context(page(wanted.target, lambda: watchdog.findings))}")
            if wanted.send:
                threading.Thread(target=_send, args=(wanted, port, server.stop, say), daemon=True).start()

        requests = serve(
            app,
            listener,
            watchdog,
            started=started,
            stopping=lambda: complain("Stopping; a second signal ends at once"),
            loop=wanted.loop,
            seconds=wanted.seconds,
        )
    return Result(watchdog.findings, requests)


def _send(wanted: Wanted, port: int, done: Callable[[], None], say: Callable[[str], None]) -> None:
    """Sends the built-in load, and ends the session afterwards unless the user has given a time."""
    requests = [part for pair in wanted.send for part in pair]
    command = [sys.executable, "-P", str(_LOAD), wanted.host, str(port), *requests]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sending:
        assert sending.stdout is not None
        for line in sending.stdout:
            say(line.rstrip())
    if wanted.seconds is None:
        done()


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
