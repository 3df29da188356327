"""How a demo shows what it does: this package prints nothing by itself."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

Bar = Callable[[int], None]


class Output(NamedTuple):
    """`say` a result; `note` what comes next; a `bar` with its label and length is told of each step."""

    say: Callable[[str], None]
    note: Callable[[str], None]
    bar: Callable[[str, int], AbstractContextManager[Bar]]
