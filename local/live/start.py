"""Starts and ends the page's process, from the parent process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from local.live.page_config import PageConfig


class LivePage:
    """Controls the page's process. The process starts early, while the parent is still starting the services."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        self.pid = child.pid

    def show(self, config: PageConfig) -> None:
        """Sends the configuration to the page's process, without waiting.

        Does nothing if the page's process has ended, because the services can run without the page.
        """
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):
            self._child.stdin.write(config.line())
            self._child.stdin.flush()

    def url(self) -> str | None:
        """Waits until the page listens, and returns the URL, or None if the page's process ended before."""
        assert self._child.stdout is not None
        return self._child.stdout.readline().decode().strip() or None

    def wait(self) -> None:
        """Waits until the page's process has ended."""
        self._child.wait()


@contextmanager
def start() -> Iterator[LivePage]:
    """Runs the page's process inside the context. The page's process also ends if this process is killed."""
    # The page's process gets its own session, so that Ctrl-C does not end it. The parent ends the page last.
    with subprocess.Popen(
        [sys.executable, "-m", "local", "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        try:
            yield LivePage(child)
        finally:
            child.kill()
