r"""Replaces JSON values that RFC 8259 allows, but that jiter, pydantic's parser, rejects.

jiter rejects a string with a lone surrogate (an escape such as \ud800 without its other half), and a number whose
integer part has more than 4,300 digits. jiter then rejects the whole body, even if the service ignores the field with
this value.
"""

import re
from collections.abc import Iterator
from json import JSONDecoder

MOST_DIGITS = 4300
# The numbers that replace rejected values. No field of a model accepts a fraction, so an invalid field stays invalid.
# Without its spaces, a replacement and a digit beside it could form one number, and invalid JSON would become valid.
_LONE_SURROGATE, _LONG_NUMBER = b" 5e-324 ", b" 1e-323 "
_KEY = b'"?"'  # replaces a key that has a lone surrogate; no field of a model has this name
REASONS = {
    float(_LONE_SURROGATE): ("lone_surrogate", r"The string has half of a surrogate pair, such as \ud800"),
    float(_LONG_NUMBER): ("long_number", f"The number has more than {MOST_DIGITS:,} digits"),
}
"""The type and the message of the error for each number that replaces a value."""

# Without the lookbehind, the search in a long run of digits would take quadratic time.
_SUSPECT = re.compile(rb"\\u[dD][89A-Fa-f]|(?<![0-9])[0-9]{%d}" % (MOST_DIGITS + 1))
_SURROGATE = re.compile("[\ud800-\udfff]")
_COLON = re.compile(r"[ \t\n\r]*:")
_LONG = re.compile(rf"(?<![-+.\w])-?[1-9][0-9]{{{MOST_DIGITS},}}(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![-+.\w])", re.ASCII)
_decode = JSONDecoder().raw_decode


def readable(body: bytes) -> bytes:
    """Returns `body` with replacements for the values that jiter rejects. All other bytes keep their positions.

    If `body` is not JSON in UTF-8, the result is not JSON either.
    """
    if _SUSPECT.search(body) is None:
        return body
    repaired = bytearray(body)
    try:
        body.decode()
        # Latin-1 makes one character of each byte, so a position in the text is a position in the body.
        for start, end, replacement in _unreadable(body.decode("latin-1")):
            repaired[start:end] = replacement.ljust(end - start)
    except ValueError:
        return body  # not UTF-8, or a string that is not JSON
    return bytes(repaired)


def _unreadable(text: str) -> Iterator[tuple[int, int, bytes]]:
    """Yields start, end and replacement of each value that jiter rejects. Raises ValueError for an invalid string."""
    end = 0
    while True:
        start = text.find('"', end)
        between = len(text) if start < 0 else start
        if between - end > MOST_DIGITS:
            for number in _LONG.finditer(text, end, between):
                yield *number.span(), _LONG_NUMBER
        if start < 0:
            return
        string, end = _decode(text, start)
        if not string.isascii() and _SURROGATE.search(string):
            yield start, end, _KEY if _COLON.match(text, end) else _LONE_SURROGATE
