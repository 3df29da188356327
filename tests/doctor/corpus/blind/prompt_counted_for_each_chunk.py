"""A stream counts the tokens of the whole answer again for each chunk, some 50 ms each time.

After lis186/ccxray#198 (tokenizeRequest call overhead causes event-loop starvation on long sessions).
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

CASE = {
    "framework": "fastapi",
    "kind": "many_short",
    "route": "GET /answers/{answer_id}",
    "cures": ["less", "thread", "process"],
    "send": [("GET", "/answers/1", 1, 1)],
    "source": "https://github.com/lis186/ccxray/issues/198",
}
TOKEN = re.compile(r"\s?\w{1,4}|\s?[^\s\w]+")
app = FastAPI()


def tokens_in(text: str) -> int:
    return len(TOKEN.findall(text))  # FAULT


def prompt_of(seconds: float) -> str:
    """Returns a text whose tokens take at least so long to count on this processor, by the fastest of three counts."""
    text, taken = "Explain, in a few words, why an event loop must not be blocked. " * 100, 0.0
    while taken < seconds / 2:
        text *= 2
        taken = min(timed(text) for _ in range(3))
    return text[: int(len(text) * seconds / taken)] if taken > seconds else text * round(seconds / taken)


def timed(text: str) -> float:
    began = time.thread_time()
    tokens_in(text)
    return time.thread_time() - began


prompt = prompt_of(0.05)


async def stream() -> AsyncIterator[str]:
    text = prompt
    for number in range(80):
        await asyncio.sleep(0.005)
        text += f"word{number} "
        yield f"{tokens_in(text)}\n"


@app.get("/answers/{answer_id}")
async def answer(answer_id: int) -> StreamingResponse:
    return StreamingResponse(stream(), media_type="text/plain")
