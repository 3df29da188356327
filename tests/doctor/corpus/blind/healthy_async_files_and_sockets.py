"""A handler waits for a slow line protocol, a file and an asyncio.Lock, all of them asynchronously."""

import asyncio
import os
import tempfile
from pathlib import Path

import aiofiles
from litestar import Litestar, post

CASE = {
    "framework": "litestar",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("POST", "/entries", 6, 3)],
    "source": "",
}
JOURNAL = Path(tempfile.mkdtemp()) / "journal.txt"
writing = asyncio.Lock()


async def confirmation(line: str) -> bytes:
    host, port = os.environ["CASE_TCP"].rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(line.encode() + b"\r\n")
    answer = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return answer


@post("/entries")
async def add() -> dict[str, str]:
    answer = await confirmation("APPEND entry")
    async with writing:
        async with aiofiles.open(JOURNAL, "a") as file:
            await file.write("entry\n")
        await asyncio.sleep(0.15)
    return {"answer": answer.decode().strip()}


app = Litestar([add])
