"""A connection in memory: the transport of a real protocol."""

import asyncio
from collections.abc import Callable
from functools import partial

from app.server.connection import Connection as ServerConnection


class Connection(asyncio.Transport):
    """Passes the client's bytes, the end of these bytes, and a reset of the connection to `protocol`.

    While the protocol pauses reading, a real transport notices none of the three: they wait until reading resumes.
    `reads`: the client reads what the server writes. `ended`: the protocol knows that the connection has ended.
    """

    def __init__(self, protocol: ServerConnection, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.protocol, self._loop = protocol, loop
        self.reads, self.was_reset, self.ended = True, False, False
        self._paused, self._closing = False, False
        self._waiting: list[Callable[[], None]] = []
        protocol.connection_made(self)

    def deliver(self, data: bytes) -> None:
        if self._paused:
            self._waiting.append(partial(self.deliver, data))
        elif not self._closing:
            self.protocol.data_received(data)

    def deliver_eof(self) -> None:
        if self._paused:
            self._waiting.append(self.deliver_eof)
        elif not self._closing and not self.protocol.eof_received():
            self.close()

    def reset(self) -> None:
        self.was_reset = True
        if self._paused:
            self._waiting.append(self.reset)
        else:
            self._end(ConnectionResetError())

    def fails(self) -> bool:
        """Returns True if a write fails, because the client has reset the connection while reading was paused."""
        if failed := self.was_reset and not self.ended:
            self._end(ConnectionResetError())
        return failed

    # The protocol calls the following methods.

    def close(self) -> None:
        """Ends the connection if the client reads. Otherwise, the close stays unfinished."""
        if self.reads:
            self._end(None)
        self._closing = True

    def abort(self) -> None:
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        if not self.ended:
            self._loop.call_soon(self.protocol.connection_lost, error)
        self._closing = self.ended = True

    def is_closing(self) -> bool:
        return self._closing

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def is_reading(self) -> bool:
        return not self._paused

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        for event in self._waiting:
            self._loop.call_soon(event)
        self._waiting = []
