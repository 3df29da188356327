"""Writes lines to standard output and standard error, in any encoding, and even if no process reads the output."""

import os
import sys

# Replacements for characters in the doctor's messages that some encodings lack (ASCII, or a Windows code page).
_PLAIN = str.maketrans({"→": "->", "←": "<-", "·": "-", "×": "x", "±": "+-", "…": "..."})


def say(line: str) -> None:
    """Prints a line of the result. If the encoding lacks a character, prints ASCII characters or an escape sequence."""
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
    """Prints a line to standard error. Python prints an escape sequence for a character that the encoding lacks."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201  # the command's output
