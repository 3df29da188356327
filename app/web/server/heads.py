"""Checks the head of a request (request line and headers): RFC 9112's rules, and limits that the parsers lack."""

from collections.abc import Collection

# h11 0.16 limits an incomplete head (16 KiB by default), but not a complete head. httptools 0.9 has no limit.
MAX_BYTES = 64 * 1024
MAX_HEADERS = 100
MAX_TARGET_BYTES = 8 * 1024  # uvicorn stores the target several times: raw, decoded, and as a path
TOO_LARGE = f"The head of the request is too large: allowed are {MAX_BYTES} bytes and {MAX_HEADERS} headers."

TOO_MUCH = "This process is receiving too many bytes at once; send the request again."

Headers = Collection[tuple[bytes, bytes]]
_VERSIONS = ("1.0", "1.1")


class HeadRefused(Exception):
    """The server rejects the head of a request. The body of the 400 is the message of this error."""


def check(method: bytes, target: bytes, version: str, headers: Headers) -> None:
    """Raises HeadRefused if a head is ambiguous, too large or not supported. Names in `headers` are in lower case.

    A proxy in front of the service may interpret an ambiguous head differently. A client could then smuggle a request
    inside another one (RFC 9112, 11.2), or send a request with another client's credentials.
    """
    if method == b"CONNECT":
        raise HeadRefused("CONNECT is not supported.")
    if len(target) > MAX_TARGET_BYTES:
        raise HeadRefused(f"The request's target is longer than {MAX_TARGET_BYTES} bytes.")
    if version not in _VERSIONS:
        raise HeadRefused(f"HTTP/{version} is not supported: allowed are 1.0 and 1.1.")
    names = [name for name, _ in headers]
    hosts = names.count(b"host")
    if hosts != 1 and (hosts or version == "1.1"):
        raise HeadRefused(f"The request has {hosts} Host headers: allowed is one.")
    if names.count(b"authorization") > 1:
        raise HeadRefused("The request has more than one Authorization header: allowed is one.")
    if b"transfer-encoding" in names:
        codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
        if codings != [b"chunked"] or version == "1.0" or b"content-length" in names or b"upgrade" in names:
            raise HeadRefused("Transfer-Encoding must be chunked; HTTP/1.0, Content-Length and Upgrade exclude it.")


def length(headers: Headers) -> int:
    """Returns the Content-Length in `headers`, which have passed `check`, or 0 if it is absent."""
    return int(next((value for name, value in headers if name == b"content-length"), 0))
