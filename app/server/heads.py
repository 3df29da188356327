"""Checks a request's head (request line and headers) against rules of RFC 9112 and limits that httptools lacks."""

import re
from collections.abc import Collection
from functools import lru_cache

# httptools 0.9 has none of the following limits.
MAX_BYTES = 64 * 1024
MAX_HEADERS = 100
MAX_TARGET_BYTES = 8 * 1024  # a request stores its target several times: raw, decoded, and in the ASGI scope
MAX_ESCAPES = 100  # maximum escapes, such as `%2F`, in the target's path; decoding one may take over a microsecond
MAX_LENGTH_DIGITS = 20  # maximum digits of a Content-Length; above 4,300, `int` raises ValueError
TOO_LARGE = f"The head of the request is too large: allowed are {MAX_BYTES} bytes and {MAX_HEADERS} headers."

TOO_MUCH = "This process is receiving too many bytes at once; send the request again."

Headers = Collection[tuple[bytes, bytes]]
_VERSIONS = ("1.0", "1.1")
# A valid Host header: a host with an optional port (RFC 9112, 3.2, and RFC 3986, 3.2.2), or an empty value.
_NAME = rb"(?:[0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
_ADDRESS = rb"\[(?:[0-9A-Fa-f:.]+|v[0-9A-Fa-f]+\.[0-9A-Za-z._~!$&'()*+,;=:-]+)\]"
_HOST = re.compile(rb"[ \t]*(?:%s|%s)(?::[0-9]*)?[ \t]*" % (_ADDRESS, _NAME))


class HeadRefused(Exception):
    """Raised for a request that the server rejects. `str(error)` is the body of the response, which has status 400."""


def fields(headers: Headers) -> dict[bytes, bytes]:
    """Returns the header values by name. Commas join the values of a repeated header (RFC 9110, 5.3)."""
    found = dict(headers)
    if len(found) < len(headers):
        found = {}
        for name, value in headers:
            found[name] = b"%s, %s" % (found[name], value) if name in found else value
    return found


def check(method: bytes, target: bytes, version: str, headers: Headers) -> dict[bytes, bytes]:
    """Returns the headers by name, as `fields` does. Raises HeadRefused if the head is ambiguous or not supported.

    Also raises HeadRefused if the target is too long, or has too many escapes or a fragment. `RequestParser` checks the
    head's size and the number of headers. The names in `headers` must be in lower case.

    A proxy in front of the service may interpret an ambiguous head differently. A client could then smuggle a request
    inside another one (RFC 9112, 11.2), or send a request with another client's credentials.
    """
    if method == b"CONNECT":
        raise HeadRefused("CONNECT is not supported.")
    if version not in _VERSIONS:
        raise HeadRefused(f"HTTP/{version} is not supported: allowed are 1.0 and 1.1.")
    _check_target(target)
    found = fields(headers)
    if len(found) < len(headers):
        _check_repeated([name for name, _ in headers])
    if b"host" in found:
        if not _is_host(found[b"host"]):
            raise HeadRefused("The Host header is not a host with an optional port.")
    elif version == "1.1":
        raise HeadRefused("The request has 0 Host headers: allowed is one.")
    if len(found.get(b"content-length", b"")) > MAX_LENGTH_DIGITS:
        raise HeadRefused(f"The Content-Length has more than {MAX_LENGTH_DIGITS} digits.")
    if b"transfer-encoding" in found:
        _check_coding(found, version)
    return found


def _check_target(target: bytes) -> None:
    if len(target) > MAX_TARGET_BYTES:
        raise HeadRefused(f"The request's target is longer than {MAX_TARGET_BYTES} bytes.")
    if b"%" in target and target.partition(b"?")[0].count(b"%") > MAX_ESCAPES:
        raise HeadRefused(f"The request's target has more than {MAX_ESCAPES} escapes (%).")
    if b"#" in target:
        raise HeadRefused("The request's target has a fragment (#).")


@lru_cache(maxsize=16)
def _is_host(value: bytes) -> bool:
    return _HOST.fullmatch(value) is not None


def _check_coding(found: dict[bytes, bytes], version: str) -> None:
    chunked = found[b"transfer-encoding"].strip().lower() == b"chunked"
    if not chunked or version == "1.0" or b"content-length" in found or b"upgrade" in found:
        raise HeadRefused("Transfer-Encoding must be chunked; HTTP/1.0, Content-Length and Upgrade exclude it.")


def _check_repeated(names: list[bytes]) -> None:
    if (hosts := names.count(b"host")) > 1:
        raise HeadRefused(f"The request has {hosts} Host headers: allowed is one.")
    if names.count(b"authorization") > 1:
        raise HeadRefused("The request has more than one Authorization header: allowed is one.")
