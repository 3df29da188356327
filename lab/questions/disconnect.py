"""Question: the client has gone. Does the handler know, and what does it do for nobody?

Setup: a handler calls an upstream twenty times, 50 ms each; its clients leave during the first calls. `/runs_on` is an
ordinary handler; `/asks` asks `request.is_disconnected()` after each call; `/cancelled` waits for the disconnect
beside the work, and cancels the work; `/streams` is a StreamingResponse. APP_LAB_MIDDLEWARE=base_http puts a
BaseHTTPMiddleware in front of them. `/work` counts what the handlers have done.

Asked: fastapi#3766, vllm#10087, starlette discussion 2094.

What to expect: ASGI has no cancellation, only a message that somebody has to receive. An ordinary handler receives
none, and runs to its end. StreamingResponse listens itself. BaseHTTPMiddleware hides the message from
`is_disconnected()`, which looks only at what is there at once; who awaits the message gets it.
"""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import aiohttp
import anyio
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from lab.application.lab_middleware import add_middleware
from lab.lab_settings import load_lab_settings

CALLS, CALL_MS = 20, 50
settings = load_lab_settings()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        yield {"http": http, "work": Counter(started=0, calls=0, finished=0, ended=0)}


app = FastAPI(lifespan=lifespan)
add_middleware(app, settings.middleware)


async def calls(request: Request) -> AsyncGenerator[bytes, None]:
    """Calls the upstream again and again, and counts. A handler that is cancelled has ended, and not finished."""
    work, http = request.state.work, request.state.http
    work["started"] += 1
    try:
        for _ in range(CALLS):
            async with http.get(f"{settings.upstream_url}/?ms={CALL_MS}") as answer:
                part = await answer.read()
            work["calls"] += 1
            yield part
        work["finished"] += 1
    finally:
        work["ended"] += 1


@app.get("/runs_on")
async def runs_on(request: Request) -> int:
    return len([answer async for answer in calls(request)])


@app.get("/asks")
async def asks(request: Request) -> int:
    answered = 0
    async with aclosing(calls(request)) as answers:
        async for _ in answers:
            answered += 1
            if await request.is_disconnected():
                break
    return answered


@asynccontextmanager
async def cancelled_on_disconnect(request: Request) -> AsyncIterator[None]:
    """Cancels its body when the client disconnects. Read the request's body before."""

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        yield
        group.cancel_scope.cancel()


@app.get("/cancelled")
async def cancelled(request: Request) -> int:
    answers = []
    async with cancelled_on_disconnect(request):
        answers = [answer async for answer in calls(request)]
    return len(answers)


@app.get("/streams")
async def streams(request: Request) -> StreamingResponse:
    return StreamingResponse(calls(request))


@app.get("/work")
async def work(request: Request) -> dict[str, int]:
    return dict(request.state.work)
