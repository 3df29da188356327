"""Writes the head of a response: status line, date and headers."""

import time
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
CLOSE = (b"connection", b"close")
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


def head(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Returns the head of a response with `status`, the date and `headers`."""
    lines = b"".join([b"%s: %s\r\n" % header for header in headers])
    return b"%s%s%s\r\n" % (_STATUS_LINES[status], _date(int(time.time())), lines)


def plain(status: int, reason: str) -> bytes:
    """Returns a complete response with `reason` as its text, and with the header `Connection: close`."""
    body = reason.encode()
    length = b"%d" % len(body)
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", length), CLOSE]
    return head(status, headers) + body


@lru_cache(maxsize=1)
def _date(now: int) -> bytes:
    return f"date: {formatdate(now, usegmt=True)}\r\n".encode()
