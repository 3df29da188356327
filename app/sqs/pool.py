"""Implements a pool of HTTP connections to one server."""

import asyncio
import socket
import ssl

from aiohappyeyeballs import start_connection

from app.sqs.sqs_connection import Connection, HttpResponse

# If an address has not answered for this many seconds, the client also tries the host's next address, as aiohttp does
# (RFC 8305, Happy Eyeballs). uvloop's `create_connection` does not try the next address while one does not answer.
STAGGER_SECONDS = 0.25


class Connections:
    """The connections to one server: one for each request in flight, and idle ones for the next requests."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None, connect_timeout: float) -> None:
        self._host, self._port, self._tls = host, port, tls
        self._connect_timeout = connect_timeout
        self._idle: list[Connection] = []
        self._closed = False

    async def request(self, connection: Connection, head: bytes, body: bytes) -> HttpResponse:
        """Sends a request on a connection from `take` or `connect`, and returns the response.

        If the request fails, raises OSError and closes all idle connections, because they may be broken as well. So a
        retry opens a new connection.
        """
        try:
            response = await connection.request(head, body)
        except BaseException:
            self._close_idle()
            raise
        self._keep(connection)
        return response

    async def open(self, number: int) -> None:
        """Opens `number` connections. Raises OSError, or TimeoutError if connecting takes too long."""

        async def add() -> None:
            self._keep(await self.connect())

        await asyncio.gather(*(add() for _ in range(number)))

    async def connect(self) -> Connection:
        """Opens a connection. Raises OSError, or TimeoutError if connecting takes too long."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._connect_timeout):
            addresses = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
            connected = await start_connection(addresses, happy_eyeballs_delay=STAGGER_SECONDS)
            # The host name in a certificate has no trailing dot, even if the endpoint's host name has one.
            name = self._host.rstrip(".") if self._tls is not None else None
            _, connection = await loop.create_connection(
                Connection, sock=connected, ssl=self._tls, server_hostname=name
            )
        return connection

    def close(self) -> None:
        """Closes the idle connections now, and each other connection when its request ends."""
        self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        for connection in self._idle:
            connection.abort()
        self._idle.clear()

    def _keep(self, connection: Connection) -> None:
        if connection.usable and not self._closed:
            self._idle.append(connection)
        else:
            connection.abort()

    def take(self) -> Connection | None:
        """Returns the usable connection that became idle last, or None if no connection is usable.

        The server may close connections after a long idle time, so this connection is the most likely to be open.
        """
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
        return None
