"""Runs the lab as a child process: `uvicorn --workers N`.

When uvicorn stops, it would wait for ever for a worker whose event loop or threads are blocked. Therefore,
`child.child_process` kills uvicorn and its workers after a few seconds. A killed worker does not remove its temporary
files, so `serve` gives the workers a folder for these files, and removes the folder at the end.
"""

import os
import socket
import tempfile
from collections.abc import Callable

from app import open_files
from app.errors import ConfigurationError
from app.settings.text import http_url
from lab.lab_settings import LabSettings
from local import child
from local.ports import START_SECONDS, free_port
from local.readiness import wait_until_ready

# GRACE_SECONDS: how long requests may still take after uvicorn gets the signal to stop. LAST_SECONDS: the time from the
# signal until `serve` kills processes that still run. (`local.child` kills uvicorn and its workers a second earlier.)
GRACE_SECONDS = 2
LAST_SECONDS = 4
_FAILED = "the lab has ended (see its error above)"


def serve(settings: LabSettings, listening: Callable[[str], None]) -> None:
    """Serves until a signal interrupts this process. Calls `listening` with the URL when uvicorn listens.

    Raises ConfigurationError if the port is taken, if uvicorn does not listen in time, or if uvicorn ends by itself.
    """
    # Each waiting request has one open connection, or two if the request waits for the upstream.
    open_files.raise_limit()
    port = _free_port(settings)
    with (
        tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as folder,
        child.child_process(_command(settings, port), os.environ | {"TMPDIR": folder}, LAST_SECONDS) as uvicorn,
    ):
        try:
            wait_until_ready(uvicorn, lambda: _accepts(settings.host, port), START_SECONDS)
        except ChildProcessError:
            raise ConfigurationError(_FAILED) from None
        except TimeoutError:
            where = http_url(settings.host, port)
            raise ConfigurationError(f"the lab did not listen on {where} within {START_SECONDS} s") from None
        listening(http_url(settings.host, port))
        uvicorn.wait()
    raise ConfigurationError(_FAILED)


def _command(settings: LabSettings, port: int) -> list[str]:
    options: dict[str, object] = {
        "host": settings.host,
        "port": port,
        "workers": settings.workers,
        "loop": settings.loop,
        "http": settings.http,
        "ws": "none",
        "backlog": settings.backlog,
        "timeout-graceful-shutdown": GRACE_SECONDS,
        # By default, uvicorn kills a worker that needs more than 5 s to start, and starts another. On a busy machine,
        # uvicorn would kill each new worker.
        "timeout-worker-healthcheck": START_SECONDS,
        "log-level": "info" if settings.access_log else "error",  # uvicorn logs requests at level info
    }
    if settings.limit_concurrency is not None:
        options["limit-concurrency"] = settings.limit_concurrency
    named = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    logged = "--access-log" if settings.access_log else "--no-access-log"
    return ["uvicorn", "lab.application.main:from_environment", "--factory", logged, *named]


def _free_port(settings: LabSettings) -> int:
    """Returns APP_LAB_PORT, or a free port if it is 0. Raises ConfigurationError if the lab cannot bind the port."""
    if settings.port == 0:
        return free_port()
    with socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((settings.host, settings.port))
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigurationError(
                f"APP_LAB_HOST={settings.host}, APP_LAB_PORT={settings.port}: {reason}; use a free port"
            ) from None
    return settings.port


def _accepts(host: str, port: int) -> bool:
    """Returns True if the server accepts a connection; raises OSError if not."""
    socket.create_connection((host, port), timeout=1).close()
    return True
