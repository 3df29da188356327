"""Writes lines to standard output and standard error, whatever the encoding is, and even if no process reads them."""

import os
import sys

# Replaces the characters of the doctor's own text that an encoding such as ASCII or a Windows code page may not have.
_PLAIN = str.maketrans({"→": "->", "←": "<-", "·": "-", "×": "x", "±": "+-", "…": "..."})


def say(line: str) -> None:
    """Prints a line of the result. A character that the encoding does not have becomes a plain one or an escape."""
    try:
        try:
            print(line, flush=True)  # noqa: T201  # the command's output
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding  # the error of a code page calls it `charmap`, which is another encoding
            plain = line.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
            print(plain, flush=True)  # noqa: T201  # the command's output
    except BrokenPipeError:  # as with `| head`: the exit code and the files are still needed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(line: str) -> None:
    """Prints a line to standard error, which always replaces characters that its encoding does not have."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201  # the command's output
