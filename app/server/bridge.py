"""Passes requests to an ASGI application. Each request gets a separate task, which runs the application."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httptools
from loguru import logger
from starlette.types import ASGIApp, Message

from app.server.heads import Headers
from app.server.request import Lost, Request

# The bridge pauses reading when more than this number of body bytes wait for the application to take them.
_HIGH_WATER = 64 * 1024
_BODILESS = (204, 304)


class Bridge:
    """Passes requests to `app`. `state`: the dictionary that the application's lifespan has yielded."""

    def __init__(self, app: ASGIApp, state: Mapping[str, Any]) -> None:
        self._app, self._state = app, state
        self._tasks: set[asyncio.Task[None]] = set()  # the event loop keeps only weak references to tasks

    def __call__(self, request: Request) -> "_AsgiExchange":
        exchange = _AsgiExchange(request, self._app, self._scope(request))
        self._tasks.add(exchange.task)
        exchange.task.add_done_callback(self._tasks.discard)
        return exchange

    def _scope(self, request: Request) -> dict[str, Any]:
        assert request.connection is not None
        transport = request.connection.transport
        url = httptools.parse_url(request.target)
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": request.version,
            "scheme": "http",
            "method": request.method,
            "path": request.path,
            "raw_path": url.path,
            "query_string": url.query or b"",
            "root_path": "",
            "headers": request.headers,
            "client": transport.get_extra_info("peername"),
            "server": transport.get_extra_info("sockname"),
            "state": dict(self._state),
        }


class _AsgiExchange:
    """Handles one request. Implements `Exchange` for the server, and ASGI's `receive` and `send` for `app`.

    `task`: the task that runs `app`.
    """

    def __init__(self, request: Request, app: ASGIApp, scope: dict[str, Any]) -> None:
        self._request = request
        self._changed = asyncio.Event()
        self._start: tuple[int, Headers] = (500, [])
        self._read = 0  # bytes of the body that the application has received
        self._all_read = False
        self._lost = False
        self.task = asyncio.get_running_loop().create_task(self._run(app, scope))

    def proceed(self) -> None:
        self._changed.set()
        request = self._request
        unread = request.received - self._read
        # If bytes arrive after a complete body, `Connection` itself stops reading, or drops the bytes.
        if not request.complete and unread > _HIGH_WATER and request.connection is not None:
            request.connection.transport.pause_reading()

    def lose(self, lost: Lost) -> None:
        self._lost = True
        self._changed.set()
        if lost is Lost.STOPPED:
            self.task.cancel()

    async def _run(self, app: ASGIApp, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception:
            logger.exception("Exception in ASGI application")
        finally:
            if not self._request.answered and (connection := self._request.connection) is not None:
                connection.transport.abort()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not (self._lost or condition()):
            self._changed.clear()
            await self._changed.wait()

    async def _receive(self) -> Message:
        request = self._request
        if self._all_read:
            await self._until(lambda: request.answered)
        elif not request.begun:  # once its answer has begun, the application does not wait for more of the body
            request.want_body()
            await self._until(lambda: request.complete or request.received > self._read)
        if self._all_read or self._lost:
            return {"type": "http.disconnect"}
        self._read, self._all_read = request.received, request.complete or request.begun
        if not request.complete and (connection := request.connection) is not None:
            connection.transport.resume_reading()
        return {"type": "http.request", "body": request.take_body(), "more_body": not self._all_read}

    async def _send(self, message: Message) -> None:
        request = self._request
        if message["type"] == "http.response.start":
            self._start = message["status"], [(name.lower(), value) for name, value in message["headers"]]
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if request.begun:
            request.write(body)
        else:
            status, headers = self._start
            if not any(name == b"content-length" for name, _ in headers) and status not in _BODILESS:
                request.close_after()  # without a Content-Length, the end of the connection ends the body
            request.begin(status, headers, body)
        if not more:
            request.end()
            self._changed.set()
        elif (connection := request.connection) is not None:
            await self._until(lambda: not connection.full)
