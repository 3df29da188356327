"""Keeps websites out of the servers of a laptop: every page that a browser shows can send requests to loopback.

A foreign Host is DNS rebinding (https://github.com/taviso/rbndr). A foreign Origin or Sec-Fetch-Site is another site's
script, form or image (https://web.dev/articles/fetch-metadata). An AWS SDK and curl send neither of the two.
"""

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_OWN_SITES = ("same-origin", "none")  # none: an address that the user has typed
_REFUSAL = b"Only by this server's own names (127.0.0.1, localhost, any --allow-host), and not for other websites.\n"


def add_option(parser: ArgumentParser) -> None:
    """Adds --allow-host; the parsed `hosts` are for `SameOriginGuard`."""
    parser.add_argument(
        "--allow-host",
        dest="hosts",
        metavar="NAME",
        action="append",
        default=list(LOOPBACK),
        help="a name that clients use besides --host, 127.0.0.1 and localhost, such as a container's, with or without a"
        " port; requests to other names get 403, because they may come from a website; repeatable",
    )


class SameOriginGuard:
    """Answers 403 to other websites, and removes the headers of `app` that allow them to read a response.

    `hosts` are the server's own names. A name without a port is accepted with any port, because a proxy in between and
    a published port have another one.
    """

    def __init__(self, app: Any, hosts: Iterable[str] = LOOPBACK) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._allows(scope):
            await self._app(scope, receive, _Unshared(send))
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


class _Unshared:
    """`send` without the headers of CORS, which ministack adds to every response."""

    def __init__(self, send: Any) -> None:
        self._send = send

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = [header for header in message["headers"] if not header[0].lower().startswith(b"access-control-")]
            message = {**message, "headers": headers}
        await self._send(message)


def _is_link(scope: Any) -> bool:
    """Whether a link on another site opens the page itself, which that site cannot read.

    Only without a query, because a query can be a call of SQS.
    """
    asked = (scope["method"], scope["path"], scope["query_string"])
    return asked == ("GET", "/", b"") and _values(scope, b"sec-fetch-dest") == ["document"]


def _values(scope: Any, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdigit() else host


async def _refuse(send: Any) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(_REFUSAL)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSAL})
