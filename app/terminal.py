"""Decides whether commands colour their output and draw progress.

https://no-color.org describes the environment variable NO_COLOR. TERM is `dumb` if the terminal does not interpret
control sequences, for example in Emacs' shell.
"""

import os
from typing import TextIO


def is_dumb(stream: TextIO) -> bool:
    """Returns True if `stream` is a terminal that does not interpret control sequences."""
    return stream.isatty() and os.environ.get("TERM") == "dumb"


def is_plain() -> bool:
    """Returns True if no command may colour its output, even on a terminal."""
    return os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))


def draws(stream: TextIO) -> bool:
    """Returns True if a command may move the cursor of `stream`."""
    return stream.isatty() and not is_dumb(stream)
