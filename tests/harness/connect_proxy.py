"""A forward proxy that supports only CONNECT, and that can also act as the HTTPS site behind the proxy."""

import asyncio
import ssl
import threading
from contextlib import closing, suppress
from typing import Self


class ConnectProxy:
    """A context in which the proxy listens on a free port of 127.0.0.1.

    The proxy forwards each tunnel to 127.0.0.1:`port`, and decrypts its bytes if `tls` is given. `heads`: the head of
    each request to the proxy.
    """

    def __init__(self, tls: ssl.SSLContext | None, port: int) -> None:
        self.heads: list[str] = []
        self._tls, self._target = tls, port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        serving = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop)
        self._server = serving.result(60)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            if not head.startswith("CONNECT "):
                writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
                return
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            if self._tls is not None:
                await writer.start_tls(self._tls)
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            with closing(back):
                await asyncio.gather(_forward(reader, back), _forward(there, writer))


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while some := await reader.read(65536):
            writer.write(some)
            await writer.drain()
    writer.close()
