"""The kinds of requests that a client sends over a connection."""

import base64
from typing import NamedTuple

from app.web.middleware import PATH
from local.sample_events import default_file, fresh_events
from tests.harness.service import PASSWORD, USER

WEBHOOK = next(fresh_events(default_file().read_bytes(), 1))
MAX_BODY = len(WEBHOOK)
_IGNORED = WEBHOOK.replace(b"pending_invoice_created", b"subscription_created")
_TOO_LARGE = b"x" * (MAX_BODY + 1)
_CLOSE, _UPGRADE = b"Connection: close", b"Connection: Upgrade\r\nUpgrade: h2c"
_EXPECT = b"Expect: 100-continue"


class Request(NamedTuple):
    """A request. `status`: of its answer, if no event happens. `last`: the server reads no request after it."""

    status: int
    method: str
    head: bytes
    body: bytes = b""
    last: bool = False


def _request(status: int, method: str, path: str, fields: list[bytes], body: bytes, version: str) -> Request:
    head = b"\r\n".join([f"{method} {path} HTTP/{version}\r\nHost: x".encode(), *fields]) + b"\r\n\r\n"
    return Request(status, method, head, body, version == "1.0" or _CLOSE in fields or _UPGRADE in fields)


def _probe(*fields: bytes, method: str = "GET", body: bytes = b"", version: str = "1.1") -> Request:
    return _request(200, method, "/healthz", list(fields), body, version)


def _post(
    *fields: bytes,
    body: bytes = WEBHOOK,
    path: str = PATH,
    password: str = PASSWORD,
    version: str = "1.1",
    status: int = 200,
) -> Request:
    credentials = b"Authorization: Basic " + base64.b64encode(f"{USER}:{password}".encode())
    return _request(status, "POST", path, [credentials, *fields, b"Content-Length: %d" % len(body)], body, version)


def _chunked(body: bytes = WEBHOOK, path: str = PATH, trailer: bytes = b"", status: int = 200) -> Request:
    request = _post(path=path, status=status)
    head = request.head.replace(b"Content-Length: %d" % len(WEBHOOK), b"Transfer-Encoding: chunked")
    return request._replace(head=head, body=b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, trailer))


REQUESTS = {
    "probe": _probe(),
    "probe by HEAD": _probe(method="HEAD"),
    "probe with a body": _probe(b"Content-Length: 20", body=b"y" * 20),
    "probe without Host": _probe()._replace(
        status=400, head=b"GET /healthz HTTP/1.1\r\nAccept: text/html\r\n\r\n", last=True
    ),
    "last probe": _probe(_CLOSE),
    "probe by HTTP/1.0": _probe(version="1.0"),
    "probe that upgrades": _probe(_UPGRADE),
    "webhook": _post(),
    "chunked webhook": _chunked(),
    "webhook with trailers": _chunked(trailer=b"T: 1\r\n"),
    "webhook with a query": _post(path=f"{PATH}?a=1"),
    "webhook that expects 100": _post(_EXPECT),
    "last webhook": _post(_CLOSE),
    "webhook by HTTP/1.0": _post(version="1.0"),
    "webhook that upgrades": _post(_UPGRADE),
    "ignored event": _post(body=_IGNORED),
    "chunked ignored event": _chunked(_IGNORED),
    "ignored event with trailers": _chunked(_IGNORED, trailer=b"T: 1\r\n"),
    "last ignored event": _post(_CLOSE, body=_IGNORED),
    "wrong password": _post(password="wrong", status=401),
    "wrong password that expects 100": _post(_EXPECT, password="wrong", status=401),
    "too large": _post(body=_TOO_LARGE, status=413),
    "chunked, too large": _chunked(_TOO_LARGE, status=413),
    "no JSON": _post(body=b"{no json", status=422),
    "no body": _post(body=b"", status=422),
    "compressed": _post(b"Content-Encoding: gzip", status=415),
    "other path": _post(path="/no", status=404),
    "chunked, other path": _chunked(path="/no", status=404),
    "other path that expects 100": _post(_EXPECT, path="/no", status=404),
    "large, other path": _post(body=b"y" * 70_000, path="/no", status=404),
    "last, other path": _post(_CLOSE, path="/no", status=404),
    "other path by HTTP/1.0": _post(path="/no", status=404, version="1.0"),
}
# One request of each kind that the server treats differently.
TYPICAL = ("probe", "last probe", "webhook", "ignored event", "wrong password", "chunked webhook", "other path")
