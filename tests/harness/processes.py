"""Processes that may end at any moment."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import psutil


def names(processes: Iterable[psutil.Process]) -> Iterator[str]:
    """Yields the names of the processes that still run."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            yield process.name()
