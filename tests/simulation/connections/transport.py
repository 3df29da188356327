"""A connection in memory: the transport of a real protocol, and what its client does."""

import asyncio
import fcntl
import os
from types import SimpleNamespace
from typing import Any

# As many as uvloop reads at once, so that a head and a long body arrive together.
_PIPE_BYTES = 1 << 18


class Transport(asyncio.Transport):
    """Behaves like asyncio's transport of a socket.

    What the server has not read waits in a pipe, where `has_unread` finds it. `received`: bytes that the protocol has
    got. `written`: bytes that the protocol has written before the connection ended. `refuses`: the client does not
    read. `aborted`: the server has ended the connection without waiting for its client.
    """

    def __init__(self, protocol: Any, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._protocol, self._loop = protocol, loop
        self._unread, self._kernel = os.pipe()
        os.set_blocking(self._unread, False)
        fcntl.fcntl(self._kernel, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        client, server = ("127.0.0.1", 1), ("127.0.0.1", 2)
        self._socket = SimpleNamespace(
            fileno=lambda: self._unread, getpeername=lambda: client, getsockname=lambda: server
        )
        self._paused = self._closing = self._dead = False  # `_dead`: what the protocol writes is lost
        self._half_closed = self._half_close_read = False
        self._waiting = self._writing_paused = False  # written bytes wait until the client reads
        self.received, self.written = 0, b""
        self.refuses = self.aborted = self.ended = False

    # What the client does.

    def send(self, data: bytes) -> None:
        if not self._closing:
            os.write(self._kernel, data)
            self._read()

    def stop_sending(self) -> None:
        self._half_closed = True
        self._read()

    def reset(self) -> None:
        self._end(ConnectionResetError())

    def read_again(self) -> None:
        self.refuses = False
        if self._dead:
            return
        self._waiting = False
        if self._writing_paused:
            self._writing_paused = False
            self._protocol.resume_writing()
        if self._closing:
            self._end(None)

    # What the server does.

    def write(self, data: Any) -> None:
        if self._dead:
            return
        self.written += bytes(data)
        if self.refuses and data:
            self._waiting = True
            if not self._writing_paused:
                self._writing_paused = True
                self._protocol.pause_writing()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            if not self._waiting:
                self._end(None)

    def abort(self) -> None:
        self.aborted = self.aborted or not self._dead
        self._end(None)

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return not self._paused

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._loop.call_soon(self._read)

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._socket if name == "socket" else default

    @property
    def writing_paused(self) -> bool:
        """True if the protocol knows that the client does not read."""
        return self._writing_paused

    def _read(self) -> None:
        while not (self._paused or self._closing):
            try:
                data = os.read(self._unread, _PIPE_BYTES)
            except BlockingIOError:
                break
            self.received += len(data)
            self._protocol.data_received(data)
        if self._half_closed and not (self._half_close_read or self._paused or self._closing):
            self._half_close_read = True
            if not self._protocol.eof_received():
                self.close()

    def _end(self, error: Exception | None) -> None:
        self._closing = True
        if not self._dead:
            self._dead = True
            self._loop.call_soon(self._lose, error)

    def _lose(self, error: Exception | None) -> None:
        self.ended = True
        os.close(self._unread)
        os.close(self._kernel)
        self._unread = -1
        self._protocol.connection_lost(error)
