"""Question: the client has disconnected. Does the handler notice, and how much work does it still do?

Setup: a handler calls an upstream twenty times, 50 ms each; its clients disconnect during the first calls. `/runs_on`
is an ordinary handler; `/asks` calls `request.is_disconnected()` after each call of the upstream; `/cancelled` has
a second task, which waits for the disconnect and then cancels the work; `/streams` is a StreamingResponse.
APP_LAB_MIDDLEWARE=base_http puts a BaseHTTPMiddleware in front of the handlers. `/work` counts the handlers' work.

Asked: fastapi#3766, vllm#10087, starlette discussion 2094.

What to expect: ASGI does not cancel a handler. The server only offers a message, `http.disconnect`, which an
application must receive. An ordinary handler receives no message after the body, and runs to its end. StreamingResponse
receives the message. BaseHTTPMiddleware hides the message from `is_disconnected()`, because this method does not wait
for messages. A task that awaits the message receives it even behind BaseHTTPMiddleware.
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
    """Calls the upstream CALLS times, yields each answer, and counts the calls.

    A handler that is cancelled counts as ended, but not as finished.
    """
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
    """Cancels the `with` block when the client disconnects. Read the request's body first: `watch` discards it."""

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
