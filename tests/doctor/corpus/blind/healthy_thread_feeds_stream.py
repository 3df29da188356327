"""A thread produces the parts of a stream and hands them to the event loop with call_soon_threadsafe."""

import asyncio
import time
from collections.abc import AsyncIterator

from litestar import Litestar, get
from litestar.response import Stream

CASE = {
    "framework": "litestar",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/chat", 4, 2)],
    "source": "",
}


def produce(loop: asyncio.AbstractEventLoop, parts: asyncio.Queue[str | None]) -> None:
    for word in ("The", "loop", "is", "free"):
        time.sleep(0.3)
        loop.call_soon_threadsafe(parts.put_nowait, word + " ")
    loop.call_soon_threadsafe(parts.put_nowait, None)


async def words() -> AsyncIterator[str]:
    parts: asyncio.Queue[str | None] = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(produce, asyncio.get_running_loop(), parts))
        while (part := await parts.get()) is not None:
            yield part


@get("/chat")
async def chat() -> Stream:
    return Stream(words(), media_type="text/plain")


app = Litestar([chat])
