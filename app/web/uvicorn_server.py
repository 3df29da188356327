"""Serves an ASGI app (v01 to v10) with uvicorn, but handles signals as this project's own server does."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from loguru import logger


class UvicornServer(uvicorn.Server):
    """Waits for `delay` seconds after SIGTERM, and then stops. After SIGINT or SIGHUP, stops without the delay.

    A second SIGTERM or SIGINT ends the server at once. After a signal, the exit code is 0. `drain` runs at the first
    signal, while the server still listens. `started_as` is logged when the server listens.
    """

    def __init__(self, config: uvicorn.Config, drain: Callable[[], None], delay: float, started_as: str) -> None:
        super().__init__(config)
        self._drain, self._delay, self._started_as = drain, delay, started_as
        self._loop: asyncio.AbstractEventLoop | None = None
        self._signalled = False
        self._closing: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Passes a signal to the event loop. A signal before `startup` stops the server right after `startup`."""
        if self._loop is None:
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._on_signal, sig)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup sets SIG_IGN
            signal.signal(signal.SIGHUP, self.handle_exit)
        await super().startup(sockets)
        if self.started:
            logger.info("Listening on {}", self._started_as)

    def _on_signal(self, sig: int) -> None:
        if not self._signalled:
            self._signalled = True
            self._drain()
            delay = self._delay if sig == signal.SIGTERM else 0
            logger.info("Draining for {:g} s", delay)
            asyncio.get_running_loop().call_later(delay, self._stop)
        elif sig != signal.SIGHUP:  # a closed terminal (SIGHUP) is no reason to end at once
            logger.warning("Second signal: ending now")
            self.should_exit = self.force_exit = True
            for connection in list(self.server_state.connections):
                connection.transport.abort()
            self.lifespan.logger.setLevel(logging.CRITICAL)  # a cancelled lifespan would log a traceback
            if self._closing is not None:
                self._closing.cancel()

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Runs uvicorn's shutdown as a task, so that a second signal can cancel it.

        uvicorn itself does not react to signals while it awaits the end of the lifespan.
        """
        self._closing = asyncio.create_task(super().shutdown(sockets))
        await asyncio.wait([self._closing])
        if not self._closing.cancelled():
            self._closing.result()
