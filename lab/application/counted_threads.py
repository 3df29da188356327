"""Counts the threads that a process uses for its requests, because study 2 published this number for each test."""

import threading

import psutil
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ThreadCount:
    """Counts the threads of this process.

    `python` counts the main thread, which runs the event loop, and every Python thread that was started after the
    application: AnyIO's threads for `def` endpoints and files, the threads of executors, and the four threads of a
    `BlockingPool`, which its first request starts. `python` excludes the other threads that ran at the start: the
    thread by which a uvicorn worker answers its parent, and threads that wait for the parent's end. `os` counts all
    threads of the process as the operating system does, including these excluded threads and libuv's threads.
    """

    def __init__(self) -> None:
        self.peak = 1
        self._standing = 0

    def start(self) -> None:
        """Excludes threads that run now, because they serve no request. The main thread still counts."""
        self._standing = threading.active_count() - 1

    def now(self) -> int:
        return threading.active_count() - self._standing

    def request_ended(self) -> None:
        """Updates the peak.

        The peak includes all threads of AnyIO, because AnyIO keeps a thread for 10 s after its last call. It may not
        include the threads of an executor that exists only during a request.
        """
        self.peak = max(self.peak, self.now())

    def report(self) -> dict[str, int]:
        return {"python": self.now(), "python_peak": self.peak, "os": psutil.Process().num_threads()}


class CountThreads:
    """A pure ASGI middleware. Handlers find its ThreadCount as `request.state.threads`."""

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
