"""Rejects requests from websites, because any page in a local browser can send requests to servers on loopback.

If the Host header is not a name of the server, a website may have sent the request through DNS rebinding
(https://github.com/taviso/rbndr). If the Origin or Sec-Fetch-Site header names another site, a script, form or image of
that site has sent the request (https://web.dev/articles/fetch-metadata). AWS SDKs and curl send neither
Origin nor Sec-Fetch-Site.
"""

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# The allowed values of the Sec-Fetch-Site header. A browser sends `none` if the user has typed the address.
_OWN_SITES = ("same-origin", "none")
_REFUSAL = (
    b"Call this server as 127.0.0.1, as localhost, or by a name given with --allow-host."
    b" The server rejects requests from other websites.\n"
)


def add_option(parser: ArgumentParser) -> None:
    """Adds the option --allow-host. Pass its parsed value, `hosts`, to `SameOriginGuard`."""
    parser.add_argument(
        "--allow-host",
        dest="hosts",
        metavar="NAME",
        action="append",
        default=list(LOOPBACK),
        help="another name by which clients call this server, such as a container's name, with or without a port; the"
        " option can be repeated. The server answers 403 to requests for other names, because a website may have sent"
        " them.",
    )


class SameOriginGuard:
    """Answers 403 to requests from other websites, and removes the CORS headers from the responses of `app`.

    `hosts` are the server's own names. A name without a port matches any port, because clients may use another port
    than the server, for example if they connect through a proxy or a container's published port.
    """

    def __init__(self, app: Any, hosts: Iterable[str] = LOOPBACK) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._allows(scope):
            await self._app(scope, receive, _WithoutCors(send))
        else:
            await _refuse(send)

    def _allows(self, scope: Any) -> bool:
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or self._hosts.isdisjoint((hosts[0], _without_port(hosts[0]))):
            return False
        own = f"{scope['scheme']}://{hosts[0]}"
        if any(origin != own for origin in _values(scope, b"origin")):
            return False
        return all(site in _OWN_SITES for site in _values(scope, b"sec-fetch-site")) or _is_link(scope)


class _WithoutCors:
    """An ASGI `send` that removes CORS headers, which would allow other websites to read the response.

    ministack, the emulator of AWS, adds these headers to every response.
    """

    def __init__(self, send: Any) -> None:
        self._send = send

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = [header for header in message["headers"] if not header[0].lower().startswith(b"access-control-")]
            message = {**message, "headers": headers}
        await self._send(message)


def _is_link(scope: Any) -> bool:
    """Returns True if the user has followed a link from another site to the page `/`.

    The guard allows such a request, because the other site cannot read the page. If the link has a query, the guard
    rejects the request, because the query can be a call to SQS.
    """
    request = (scope["method"], scope["path"], scope["query_string"])
    return request == ("GET", "/", b"") and _values(scope, b"sec-fetch-dest") == ["document"]


def _values(scope: Any, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdigit() else host


async def _refuse(send: Any) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(_REFUSAL)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSAL})
