"""The functions with which a demo prints its results, because this package itself prints nothing."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

Bar = Callable[[int], None]


class Output(NamedTuple):
    """`say` prints a result, `note` the next step; `bar` makes a progress bar from its label and length."""

    say: Callable[[str], None]
    note: Callable[[str], None]
    bar: Callable[[str, int], AbstractContextManager[Bar]]
