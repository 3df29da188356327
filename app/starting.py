"""The first steps of each command. This module imports little, because it runs before the large imports."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STDERR = 2


@contextmanager
def importing() -> Iterator[None]:
    """Makes Ctrl-C end the process at once while a command imports what it needs.

    During the imports, nothing needs a clean-up. Python's own handler would raise KeyboardInterrupt: Python would then
    print a traceback, or an imported library would suppress the exception.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # another handler stays: a background job of a shell ignores SIGINT
        signal.signal(signal.SIGINT, _end)
    yield
    signal.signal(signal.SIGINT, before)


def open_standard_files() -> None:
    """Opens /dev/null for each of standard input, output and error that is closed.

    Otherwise, a socket would get the number 0, 1 or 2, and closing such a socket makes uvloop end the process.
    """
    while (file := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(file)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)  # the exit code that a shell reports after this signal
