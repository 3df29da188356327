"""Runs inside the live page's process: reads the configuration from standard input, and serves the page."""

import sys
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from app import open_files
from local.child import end_with_parent
from local.live.page_config import PageConfig, parse
from local.ports import listen

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
    # Each webhook without an answer keeps a connection open, and a blocked service can leave thousands of connections
    # open.
    open_files.raise_limit()
    door = listen("127.0.0.1", config.port, f"APP_LOCAL_LIVE_PORT={config.port}: the live page")
    port = door.getsockname()[1]
    options = uvicorn.Config(create(config, port), log_config=None, log_level="error", access_log=False, ws="none")
    listening(f"http://127.0.0.1:{port}")
    uvicorn.Server(options).run(sockets=[door])
