"""The computation of study 3, in its own module, so that the processes of a pool import nothing else of the lab."""

import os
import signal
import threading
from multiprocessing import parent_process


def fibonacci(number: int) -> int:
    """Computes the Fibonacci number by plain recursion, as published.

    The number 30 takes 0.1 to 0.2 s, and 35 takes eleven times as long.
    """
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)  # noqa: PLR2004  # by definition


def prepare() -> None:
    """Prepares a process of a pool: it ignores Ctrl-C, and ends when its parent process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)
