"""What is wrong with a request's head, whichever parser read it: RFC 9112 and the bounds that parsers lack."""

from collections.abc import Collection

# h11's own bound is 64 KiB, and only for a head that has not ended yet; httptools 0.9 has none.
MAX_BYTES = 64 * 1024
MAX_HEADERS = 100
MAX_TARGET_BYTES = 8 * 1024  # each byte of it is kept several times: raw, decoded, as a path
TOO_LARGE = f"The head is too large: allowed are {MAX_BYTES} bytes and {MAX_HEADERS} headers."

TOO_MUCH = "Too much is being sent to this process at once; send it again."

Headers = Collection[tuple[bytes, bytes]]
_VERSIONS = ("1.0", "1.1")


class HeadRefused(Exception):
    """`str()` says why, for the 400 that answers it."""


def check(method: bytes, target: bytes, version: str, headers: Headers) -> None:
    """`headers` with names in lower case. Raises HeadRefused.

    What could be understood in two ways is understood in none: by us one way and by a proxy in front of us another
    way, it lets one request hide in another (RFC 9112, 11.2), or one sender speak with another's credentials.
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
        raise HeadRefused(f"Host stands {hosts} times: allowed is once.")
    if names.count(b"authorization") > 1:
        raise HeadRefused("Authorization stands more than once.")
    if b"transfer-encoding" in names:
        codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
        if codings != [b"chunked"] or version == "1.0" or b"content-length" in names or b"upgrade" in names:
            raise HeadRefused("Transfer-Encoding: allowed is chunked, in HTTP/1.1, without Content-Length and Upgrade.")


def length(headers: Headers) -> int:
    """The Content-Length of a head that `check` has passed; 0 where there is none."""
    return int(next((value for name, value in headers if name == b"content-length"), 0))
