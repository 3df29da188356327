"""Counts the threads that a process uses for its requests, as study 2 did (`lab.application.outbound`)."""

import threading

import psutil
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ThreadCount:
    """Counts the threads of this process.

    In `report`, `python` counts the main thread, which runs the event loop, and every Python thread that starts after
    the application's start-up: AnyIO's threads for `def` endpoints and files, the threads of executors, and the four
    threads of a `BlockingPool`, which start with the pool's first request. `python` leaves out two kinds of thread that
    run at start-up: the thread by which a uvicorn worker answers its parent process, and threads that wait for the end
    of the parent process. `os` counts all threads of the process as the operating system does, so it includes the
    threads that `python` leaves out, and the threads of libuv, which uvloop uses.
    """

    def __init__(self) -> None:
        self.peak = 1
        self._standing = 0

    def start(self) -> None:
        """Excludes the present threads, other than the main thread, from the count, because they serve no request."""
        self._standing = threading.active_count() - 1

    def now(self) -> int:
        return threading.active_count() - self._standing

    def request_ended(self) -> None:
        """Updates `peak`, the largest count that was found at the end of a request.

        The peak includes all threads of AnyIO, because AnyIO keeps an idle thread for 10 s. The peak may miss threads
        of an executor that exists only during a request.
        """
        self.peak = max(self.peak, self.now())

    def report(self) -> dict[str, int]:
        return {"python": self.now(), "python_peak": self.peak, "os": psutil.Process().num_threads()}


class CountThreads:
    """A pure ASGI middleware that counts threads. Handlers find the ThreadCount in `request.state.threads`."""

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
