"""Writes lines to standard output and standard error, in any encoding, and even if no process reads the output."""

import os
import sys

# Replaces the characters of the doctor's own text that an encoding such as ASCII or a Windows code page may not have.
_PLAIN = str.maketrans({"→": "->", "←": "<-", "·": "-", "×": "x", "±": "+-", "…": "..."})


def say(line: str) -> None:
    """Prints a line of the result. Replaces a character that the encoding lacks by ASCII, or by an escape sequence."""
    try:
        try:
            print(line, flush=True)  # noqa: T201  # the command's output
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding  # `error.encoding` is wrong: for each Windows code page, it is `charmap`
            plain = line.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
            print(plain, flush=True)  # noqa: T201  # the command's output
    except BrokenPipeError:  # as with `| head`: continue, because the exit code and the files are still needed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(line: str) -> None:
    """Prints a line to standard error, which replaces characters that its encoding lacks by escape sequences."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201  # the command's output
