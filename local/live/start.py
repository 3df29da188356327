"""The parent's side: starts the page's process, and ends it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from local.live.page_config import PageConfig


class LivePage:
    """A process that starts while its parent still prepares what to show."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        self.pid = child.pid

    def show(self, config: PageConfig) -> None:
        """Does not wait. A page that has ended is no reason for the service to end."""
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):
            self._child.stdin.write(config.line())
            self._child.stdin.flush()

    def url(self) -> str | None:
        """Waits until it listens; None where it has ended instead."""
        assert self._child.stdout is not None
        return self._child.stdout.readline().decode().strip() or None

    def wait(self) -> None:
        """Until it has ended."""
        self._child.wait()


@contextmanager
def start() -> Iterator[LivePage]:
    """Ends with this context, and with this process, whatever way that ends."""
    # A session of its own: Ctrl-C in the terminal is for the parent, which ends the page last.
    with subprocess.Popen(
        [sys.executable, "-m", "local", "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        try:
            yield LivePage(child)
        finally:
            child.kill()
