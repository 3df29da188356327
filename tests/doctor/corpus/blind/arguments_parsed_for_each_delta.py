"""A streamed answer parses all arguments again for each delta, in Python, some 50 ms at a time.

After BerriAI/litellm#26181 (repeated parsing of the accumulated JSON blocks the event loop).
"""

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "many_short",
    "route": "GET /completions",
    "cures": ["less", "process"],
    "send": [("GET", "/completions", 1, 1)],
    "source": "https://github.com/BerriAI/litellm/issues/26181",
}
DELTA = '{"path": "src/main.py", "text": "print(1)"}, '


def depth(text: str) -> int:
    level = deepest = 0
    for character in text:
        level += (character == "{") - (character == "}")  # FAULT
        deepest = max(deepest, level)  # FAULT
    return deepest


def calibrated() -> str:
    """Returns a text that takes some 50 ms on this processor."""
    text, seconds = DELTA, 0.0
    while seconds < 0.025:
        text *= 2
        started = time.thread_time()
        depth(text)
        seconds = time.thread_time() - started
    return text[: int(len(text) * 0.05 / seconds)]


arguments = calibrated()


async def deltas() -> AsyncIterator[str]:
    for _ in range(50):
        yield f"{depth(arguments)} "
        await asyncio.sleep(0.002)


async def completions(request: Request) -> StreamingResponse:
    return StreamingResponse(deltas(), media_type="text/plain")


app = Starlette(routes=[Route("/completions", completions)])
