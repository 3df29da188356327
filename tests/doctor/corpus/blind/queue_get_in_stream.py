"""A streamed answer takes its parts from a queue.Queue, and each get() waits on the event loop.

After BoundaryML/baml#1596 (Fix event handling in BamlStream to use non-blocking queue retrieval).
"""

import queue
import threading
import time
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "waits",
    "route": "GET /chat",
    "cures": ["async client", "thread"],
    "send": [("GET", "/chat", 1, 1)],
    "source": "https://github.com/BoundaryML/baml/pull/1596",
}


def generate(parts: queue.Queue[str | None]) -> None:
    for word in ("The", "loop", "is", "blocked"):
        time.sleep(0.4)
        parts.put(word + " ")
    parts.put(None)


async def stream() -> AsyncIterator[str]:
    parts: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=generate, args=(parts,)).start()
    while (part := parts.get()) is not None:  # FAULT
        yield part


async def chat(request: Request) -> StreamingResponse:
    return StreamingResponse(stream(), media_type="text/plain")


app = Starlette(routes=[Route("/chat", chat)])
