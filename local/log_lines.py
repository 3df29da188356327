"""Shows the logs of several processes in one terminal, each line with the name of its process in front."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def prefixed(name: str) -> Iterator[int]:
    """Yields a file descriptor for a child process's output, and copies each line of the output to standard error.

    Each line gets the prefix `name │ `. When the `with` block ends, waits until all lines are copied. The child must
    end before the block does, because the wait would otherwise not end.
    """
    reading, writing = os.pipe()
    copying = threading.Thread(target=_copy, args=(reading, f"{name} │ "), daemon=True)
    copying.start()
    try:
        yield writing
    finally:
        os.close(writing)
        copying.join()


def _copy(reading: int, prefix: str) -> None:
    with open(reading, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            sys.stderr.write(f"{prefix}{line}")
