"""A process and its descendants."""

from collections.abc import Iterator
from contextlib import suppress

import psutil


def tree(pid: int) -> Iterator[psutil.Process]:
    """The process first; nothing of those that have ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        yield process
        yield from process.children(recursive=True)
