"""Who may use the page: whoever asks by its own address. It has buttons, and any website can send requests to loopback.

A foreign Host is DNS rebinding (https://github.com/taviso/rbndr), a foreign Origin another site's script or form.
"""

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_READING = ("GET", "HEAD")


class Guard:
    """Answers 403 to requests with another Host, and to those that change something without our own Origin."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._allows(scope["method"], Headers(scope=scope)):
            response = PlainTextResponse("Only from the live page's own address.\n", 403)
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _allows(self, method: str, headers: Headers) -> bool:
        if headers.getlist("host") != [host := headers.get("host", "")] or host not in self._hosts:
            return False
        return method in _READING or headers.get("origin") == f"http://{host}"
