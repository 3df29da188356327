"""Declares the functions with which a demo prints. The caller of a demo implements these functions."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

Bar = Callable[[int], None]


class Output(NamedTuple):
    """The functions with which a demo prints: `say` prints a result, and `note` prints what the demo does next.

    `bar(label, steps)` shows a progress bar until the `with` block ends. It yields a function that moves the bar
    forward by a number of steps.
    """

    say: Callable[[str], None]
    note: Callable[[str], None]
    bar: Callable[[str, int], AbstractContextManager[Bar]]
