"""Sends the requests of a case."""

import asyncio
import json
from urllib.parse import quote

from tests.doctor.case import Request

SECONDS = 60.0


async def send_all(port: int, requests: tuple[Request, ...]) -> list[int]:
    """Sends the entries one after the other. Returns the status of each answer; 0 where there is none in time."""
    return [status for request in requests for status in await _send_many(port, request)]


async def _send_many(port: int, request: Request) -> list[int]:
    places = asyncio.Semaphore(request.concurrency)

    async def one() -> int:
        async with places:
            return await _send(port, request)

    return await asyncio.gather(*(one() for _ in range(request.count)))


async def _send(port: int, request: Request) -> int:
    body = json.dumps(request.body).encode() if request.body else b""
    head = f"{request.method} {quote(request.path, safe='/?=&%')} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    if body or request.method in {"POST", "PUT", "PATCH"}:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer = None
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{head}\r\n".encode() + body)
            await writer.drain()
            status = (await reader.readline()).split()
            while await reader.read(65536):
                pass
        return int(status[1]) if len(status) > 1 else 0
    except (OSError, TimeoutError):
        return 0
    finally:
        if writer is not None:
            writer.close()
