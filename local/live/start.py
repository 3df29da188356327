"""Starts, configures and ends the live page's process from the parent process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from local.child import first_line
from local.live.page_config import PageConfig


class LivePage:
    """Controls the live page's process.

    The parent process first starts the page's process, then starts the services, and then sends the configuration.
    """

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        self.pid = child.pid

    def show(self, config: PageConfig) -> None:
        """Sends the configuration to the page's process, and does not wait for an answer.

        If the page's process has ended, does nothing and raises no error, because the services can run without the
        page.
        """
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):
            self._child.stdin.write(config.line())
            self._child.stdin.flush()

    def url(self) -> str | None:
        """Waits until the page's process listens, and returns the page's URL.

        Returns None if the process has ended, or does not listen in time.
        """
        assert self._child.stdout is not None
        try:
            return first_line(self._child.stdout).decode().strip() or None
        except TimeoutError:
            return None

    def wait(self) -> None:
        """Waits until the page's process has ended."""
        self._child.wait()


@contextmanager
def start() -> Iterator[LivePage]:
    """Runs the live page's process until the `with` block ends. The process also ends if its parent is killed."""
    # The page's process runs in a session of its own, so Ctrl-C does not reach it. The parent ends the page's process
    # after the services.
    with subprocess.Popen(
        [sys.executable, "-m", "local", "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        try:
            yield LivePage(child)
        finally:
            child.kill()
            assert child.stdin is not None
            with suppress(BrokenPipeError):  # `close` fails if the page's process had ended before `show`
                child.stdin.close()
