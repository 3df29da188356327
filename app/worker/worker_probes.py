"""The worker's probes over HTTP/1.1: /healthz (the poller is not stuck) and /readyz (the worker is not stopping).

Neither probe checks a dependency, because restarting the process does not repair a queue that is down.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from app.errors import cannot_listen

HEAD_BYTES = 8 * 1024
HEAD_SECONDS = 5.0
Probe = Callable[[], str | None]
"""Returns None if the probe succeeds, otherwise the reason for its failure."""


class Probes:
    """Answers GET and HEAD requests for the two probes, one request per connection."""

    def __init__(self, alive: Probe, ready: Probe) -> None:
        self._probes = {"/healthz": ("alive", alive), "/readyz": ("ready", ready)}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client sees a closed connection
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _answer(self, line: list[str]) -> bytes:
        method, path = (line[0], line[1].partition("?")[0]) if len(line) > 1 else ("", "")
        if path not in self._probes:
            return _response(HTTPStatus.NOT_FOUND, {"detail": "Not found"}, method)
        if method not in ("GET", "HEAD"):
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, {"detail": "Allowed are GET and HEAD"}, method)
        name, probe = self._probes[path]
        if (reason := probe()) is not None:
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, {"detail": reason}, method)
        return _response(HTTPStatus.OK, {"status": name}, method)


def _response(status: HTTPStatus, content: dict[str, str], method: str) -> bytes:
    kind = "application/json" if status == HTTPStatus.OK else "application/problem+json"
    problem = {} if status == HTTPStatus.OK else {"title": status.phrase, "status": status.value}
    body = json.dumps({**problem, **content}).encode()
    allow = "Allow: GET, HEAD\r\n" if status == HTTPStatus.METHOD_NOT_ALLOWED else ""
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"{allow}Connection: close\r\n\r\n"
    )
    return head.encode() + (b"" if method == "HEAD" else body)


@asynccontextmanager
async def served(probes: Probes, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
    """Serves the probes until the `with` block ends, and yields the bound host and port.

    Raises ConfigurationError if the server cannot listen there.
    """
    try:
        server = await asyncio.start_server(probes.serve, host, port, limit=HEAD_BYTES)
    except (OSError, UnicodeError) as error:
        raise cannot_listen(host, port, error) from None
    try:
        yield server.sockets[0].getsockname()[:2]
    finally:
        server.close()
