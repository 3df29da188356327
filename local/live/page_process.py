"""Runs inside the live page's process: reads the configuration from standard input, and serves the page."""

import resource
import socket
import sys
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from app.errors import ConfigurationError
from local.child import end_with_parent
from local.live.page_config import PageConfig, parse

# A function that creates the application for a configuration and a port.
Create = Callable[[PageConfig, int], Starlette]


def read_config() -> PageConfig | None:
    """Returns the configuration, or None if the parent process ended before it sent a configuration."""
    line = sys.stdin.buffer.readline()
    return parse(line) if line else None


def run(config: PageConfig, create: Create, listening: Callable[[str], None]) -> None:
    """Serves the page until standard input ends.

    As soon as the process listens, it calls `listening` with the page's URL. Raises ConfigurationError if the process
    cannot listen on the port.
    """
    end_with_parent()
    # Raises the limit of open files. Each webhook without an answer keeps a connection open, and a blocked service can
    # leave thousands of webhooks without an answer.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    door = _listen(config.port)
    port = door.getsockname()[1]
    options = uvicorn.Config(create(config, port), log_config=None, log_level="error", access_log=False, ws="none")
    listening(f"http://127.0.0.1:{port}")
    uvicorn.Server(options).run(sockets=[door])


def _listen(port: int) -> socket.socket:
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind(("127.0.0.1", port))
    except OSError as error:
        raise ConfigurationError(
            f"APP_LOCAL_LIVE_PORT={port}: {error.strerror}; the live page does not start; allowed is a free port, or 0"
        ) from None
    door.listen()
    return door
