"""Signs POST requests with a JSON body by AWS Signature Version 4. A Signer is for one action of one AWS service.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. botocore can sign any
request, but takes about 100 µs, because for each request it derives the signing key, and sorts and quotes the headers.
"""

import hashlib
import hmac
import time
from functools import lru_cache
from typing import NamedTuple

CONTENT_TYPE = "application/x-amz-json-1.0"
_ALGORITHM = "AWS4-HMAC-SHA256"


class Credentials(NamedTuple):
    """AWS credentials. Only temporary credentials have a `token`."""

    access_key: str
    secret_key: str
    token: str | None = None


def is_sendable(text: str) -> bool:
    """Returns True if `text` can be a key or a token: printable ASCII characters without white space.

    A line break would end a header, and the rest of `text` would become a header of its own.
    """
    return text.isascii() and text.isprintable() and " " not in text


class Signer:
    """Makes the heads of requests (request line and headers), with the signature.

    `target`: service and action, such as AmazonSQS.SendMessageBatch. `host`: includes any port other than the default.
    """

    def __init__(self, host: str, region: str, target: str, service: str = "sqs", path: str = "/") -> None:
        self._host, self._region, self._target, self._service, self._path = host, region, target, service, path

    def head(self, body: bytes, credentials: Credentials, now: float) -> bytes:
        """Returns the signed head of a request with `body`. `now` is in seconds since the epoch."""
        date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
        token = f"x-amz-security-token:{credentials.token}\n" if credentials.token else ""
        names = f"content-type;host;x-amz-date;{'x-amz-security-token;' if token else ''}x-amz-target"
        headers = (
            f"content-type:{CONTENT_TYPE}\nhost:{self._host}\nx-amz-date:{date}\n{token}x-amz-target:{self._target}\n"
        )
        request = f"POST\n{self._path}\n\n{headers}\n{names}\n{hashlib.sha256(body).hexdigest()}"
        scope = f"{date[:8]}/{self._region}/{self._service}/aws4_request"
        signed = f"{_ALGORITHM}\n{date}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key = _signing_key(credentials.secret_key, date[:8], self._region, self._service)
        signature = _hmac(key, signed).hex()
        lines = headers.rstrip("\n").replace("\n", "\r\n")
        return (
            f"POST {self._path} HTTP/1.1\r\n{lines}\r\ncontent-length:{len(body)}\r\nauthorization:{_ALGORITHM}"
            f" Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}\r\n\r\n"
        ).encode()


@lru_cache(maxsize=1)
def _signing_key(secret_key: str, day: str, region: str, service: str) -> bytes:
    """Returns the key that signs all requests of `day`. Derives a new key only if one of the parameters has changed."""
    key = f"AWS4{secret_key}".encode()
    for part in (day, region, service, "aws4_request"):
        key = _hmac(key, part)
    return key


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
