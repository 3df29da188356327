"""Starts and ends the page's process, from the parent process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from local.live.page_config import PageConfig


class LivePage:
    """The page's process, which starts while the parent still starts the services to show."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        self.pid = child.pid

    def show(self, config: PageConfig) -> None:
        """Sends the configuration, without waiting. Ignores a page that has ended, because the service runs on."""
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):
            self._child.stdin.write(config.line())
            self._child.stdin.flush()

    def url(self) -> str | None:
        """Waits until the page listens, and returns the URL; None if the page has ended instead."""
        assert self._child.stdout is not None
        return self._child.stdout.readline().decode().strip() or None

    def wait(self) -> None:
        """Waits until the page has ended."""
        self._child.wait()


@contextmanager
def start() -> Iterator[LivePage]:
    """Runs the page's process inside the context; it also ends if this process is killed."""
    # The page gets its own session, so Ctrl-C does not reach it: the parent ends the page last.
    with subprocess.Popen(
        [sys.executable, "-m", "local", "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        try:
            yield LivePage(child)
        finally:
            child.kill()
