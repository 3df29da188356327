"""Measures how much work handlers still do if their clients disconnect a quarter of a second after the request."""

import asyncio
import json
import urllib.request
from functools import partial
from time import monotonic, sleep

import aiohttp

from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Stage, uvicorn
from lab.questions.disconnect import CALL_MS, CALLS

CLIENTS = 50
PATIENCE_S = 60
LEAVE_AFTER_S = 0.25
UPSTREAM = "calls of the upstream, of 20"
FINISHED = "ran to the end, %"


async def _leave(url: str) -> None:
    """Sends all requests at once, and closes each connection after LEAVE_AFTER_S, before the answer."""
    timeout = aiohttp.ClientTimeout(LEAVE_AFTER_S)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as http:
        await asyncio.gather(*(_one(http, url) for _ in range(CLIENTS)))


async def _one(http: aiohttp.ClientSession, url: str) -> None:
    try:
        async with http.get(url) as answer:
            await answer.read()
    except TimeoutError:
        return
    raise ValueError(f"{url} answered before its client left")


def work(url: str) -> dict[str, int]:
    """Returns counts of the handlers' work so far: `started`, `calls`, `finished` and `ended`."""
    with urllib.request.urlopen(f"{url}/work", timeout=PATIENCE_S) as answer:  # noqa: S310  # our own URL
        counted: dict[str, int] = json.load(answer)
    return counted


def _measured(stage: Stage, path: str, middleware: str = "none") -> Figures:
    with stage.serve(uvicorn("disconnect"), middleware=middleware) as app:
        asyncio.run(_leave(f"{app.url}/{path}"))
        done = _ended(app.url)
    return {UPSTREAM: done["calls"] / done["started"], FINISHED: 100 * done["finished"] / done["started"]}


def _ended(url: str) -> dict[str, int]:
    """Waits until every handler has ended, and returns the counts of `work`. Raises TimeoutError after PATIENCE_S."""
    until = monotonic() + PATIENCE_S
    while (done := work(url))["ended"] < done["started"]:
        if monotonic() > until:
            raise TimeoutError(f"{url}: handlers still run")
        sleep(CALL_MS / 1000)
    return done


QUESTION = Question(
    title="The client disconnects",
    asked="fastapi#3766, vllm#10087, starlette discussion 2094",
    here=f"{CLIENTS} clients that leave after {LEAVE_AFTER_S} s; {CALLS} calls of {CALL_MS} ms in a handler",
    figure=UPSTREAM,
    cases={
        "an ordinary handler": partial(_measured, path="runs_on"),
        "asks is_disconnected()": partial(_measured, path="asks"),
        "asks, behind BaseHTTPMiddleware": partial(_measured, path="asks", middleware="base_http"),
        "cancelled": partial(_measured, path="cancelled"),
        "cancelled, behind BaseHTTPMiddleware": partial(_measured, path="cancelled", middleware="base_http"),
        "StreamingResponse": partial(_measured, path="streams"),
    },
    claims=(
        Claim(
            "calls of the upstream: an ordinary handler ÷ one that is cancelled",
            Ratio(UPSTREAM, "an ordinary handler", "cancelled"),
            only_if="nobody receives the message of the disconnect, as StreamingResponse does",
            unless=Ratio(UPSTREAM, "StreamingResponse", "cancelled"),
        ),
        Claim(
            "a handler that asks `is_disconnected()`: behind BaseHTTPMiddleware ÷ without",
            Ratio(UPSTREAM, "asks, behind BaseHTTPMiddleware", "asks is_disconnected()"),
        ),
        Claim(
            "behind BaseHTTPMiddleware: a handler that asks ÷ one that is cancelled",
            Ratio(UPSTREAM, "asks, behind BaseHTTPMiddleware", "cancelled, behind BaseHTTPMiddleware"),
        ),
    ),
)
