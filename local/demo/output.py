"""Defines how a demo prints its results: the caller passes the functions, and this package itself prints nothing."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

Bar = Callable[[int], None]


class Output(NamedTuple):
    """The functions of the caller: `say` prints a result, and `note` prints what the demo does next.

    `bar` makes a progress bar from a label and the number of steps. The bar is a function that adds finished steps.
    """

    say: Callable[[str], None]
    note: Callable[[str], None]
    bar: Callable[[str, int], AbstractContextManager[Bar]]
