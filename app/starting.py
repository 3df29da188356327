"""What each command does first. This module imports little, because it runs before the large imports."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STDERR = 2


@contextmanager
def importing() -> Iterator[None]:
    """Makes Ctrl-C end the process at once inside the context, in which a command imports what it needs.

    Nothing needs a clean-up yet. KeyboardInterrupt would print a traceback, or a library that is being imported would
    suppress it.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # otherwise SIGINT is ignored, as in a shell's background job
        signal.signal(signal.SIGINT, _end)
    yield
    signal.signal(signal.SIGINT, before)


def open_standard_files() -> None:
    """Opens /dev/null for standard input, output and error if they are closed.

    Otherwise, a socket would get one of their numbers, and uvloop ends the process when it closes such a socket.
    """
    while (file := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(file)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)  # as a shell reports a process that the signal ended
