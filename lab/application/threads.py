"""How many threads a process uses for its requests, as study 2 recorded them for each of its tests."""

import threading
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TASKS = Path("/proc/self/task")


class ThreadCount:
    """Of this process. `python` counts the main thread, which has the event loop, and every Python thread that has
    been started since the application was: anyio's for `def` endpoints and files, and those of executors.

    Not counted are the others that stood at the start: uvicorn's, by which a worker answers its parent, those which
    wait for the parent's end, and those of pools of connections. `os` are all of the process's threads as Linux counts
    them, with those and with libuv's.
    """

    def __init__(self) -> None:
        self.peak = 1
        self._standing = 0

    def start(self) -> None:
        """Threads that run by now serve no request."""
        self._standing = threading.active_count() - 1

    def now(self) -> int:
        return threading.active_count() - self._standing

    def request_ended(self) -> None:
        """anyio keeps a thread for 10 s after its last call, so this misses none of a request's own."""
        self.peak = max(self.peak, self.now())

    def report(self) -> dict[str, int]:
        return {"python": self.now(), "python_peak": self.peak, "os": sum(1 for _ in _TASKS.iterdir())}


class CountThreads:
    """Pure ASGI; handlers find its ThreadCount as `request.state.threads`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._count = ThreadCount()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._app(scope, receive, send)
            self._count.request_ended()
            return

        async def send_started(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                self._count.start()
            await send(message)

        if scope["type"] == "lifespan":
            scope["state"]["threads"] = self._count
        await self._app(scope, receive, send_started)
