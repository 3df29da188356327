"""The servers that the cases use: CASE_HTTP and CASE_TCP. They run in a process of their own."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

TCP_SECONDS = 0.4


@contextmanager
def stand_ins() -> Iterator[dict[str, str]]:
    """Starts the servers. Yields the environment variables that a case expects."""
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        http, tcp = process.stdout.readline().split()
        try:
            yield {"CASE_HTTP": f"http://127.0.0.1:{http}", "CASE_TCP": f"127.0.0.1:{tcp}"}
        finally:
            process.kill()


async def _http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers the requests of one connection: /slow/SECONDS and /items/NUMBER."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            await reader.readexactly(_length(head))
            _, what, number = head.split()[1].decode().split("/", 2)
            if what == "slow":
                await asyncio.sleep(float(number))
                body = json.dumps({"ok": True})
            else:
                body = json.dumps([{"id": n, "name": f"item {n}", "price": n / 7} for n in range(int(number))])
            answer = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            writer.write(answer.encode())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)


async def _tcp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers each line with +OK."""
    try:
        while await reader.readline():
            await asyncio.sleep(TCP_SECONDS)
            writer.write(b"+OK\r\n")
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def _serve() -> None:
    servers = [await asyncio.start_server(handler, "127.0.0.1", 0) for handler in (_http, _tcp)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)  # noqa: T201  # for the parent
    await asyncio.to_thread(sys.stdin.read)  # until the parent has ended
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_serve())
