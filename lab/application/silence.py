"""The end of calls to a Postgres that has gone silent, with its connections open, as a frozen one: no limit of the
server's applies then, and psycopg has none for a call."""

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import Any

import psycopg

_INTERVAL = 1.0


class Silence:
    """Shuts the socket of a connection that is used for more than `seconds`: its caller gets an OperationalError."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._used: dict[psycopg.Connection[Any] | psycopg.AsyncConnection[Any], float] = {}

    def begin(self, connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
        self._used[connection] = time.monotonic()

    def end(self, connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
        del self._used[connection]

    async def watch(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(_INTERVAL)
            latest = time.monotonic() - self._seconds
            for connection, since in list(self._used.items()):
                if since < latest:
                    _shut(connection)


def _shut(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """Unlike closing it, this wakes who waits for it."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as its:
        its.shutdown(socket.SHUT_RDWR)
