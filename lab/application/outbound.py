"""Question: a request calls another service that takes its time. What if endpoint and client do not fit?

Setup: the upstream answers after `?ms=` (1 s in the study). `def` with httpx.Client; `async def` with
httpx.AsyncClient; `async def` with httpx.Client, which blocks the event loop. `?client=new` makes a client for each
request, as published; `shared` takes one of the process, which makes a connection for each call. Beside it, a JSON file
of some 100 kB is read and parsed, in a thread and with `anyio.open_file`; `/threads` has what the process uses. 500
users, a minute, 1 worker in the study.

Published: requests, failures, requests a second, median, threads (study 2 of the sync/async studies): sync 2,122, 0,
35.6, 1.3 s, 41; async 3,190, 0, 53.2, 8.3 s, 1; async with the sync client 785, of which 732 failed, 13.1, 27 s, 1.

What to expect: sync does 40 threads ÷ 1 s = 40 a second. Async could do 500. Neither does with a new client for each:
making one reads the CA certificates, https or not, which takes some 20 ms of CPU, in many threads 30, and bounds a
worker at 30 to 40 a second. The shared one shows what awaiting is worth. Async with the sync client does one request at
a time. `anyio.open_file` runs in threads, too, three calls of them for one file: no faster than `def`.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx
from fastapi import APIRouter, Request

from lab.application.parameters import Milliseconds
from lab.application.upstream_client import opened as opened_upstream
from lab.lab_settings import LabSettings

Which = Literal["new", "shared"]
# httpx bounds a client at 100 connections: of 500 users, 400 would wait in the pool for somebody else's second. And it
# looks at every connection for every request, idle ones by a system call each, so that 500 calls at the same time took
# 8 to 13 s of CPU with connections that are kept, 0.8 s without (https://github.com/encode/httpcore/pull/1035).
_MANY = httpx.Limits(max_connections=None, max_keepalive_connections=0)
_RECORDS = 600

router = APIRouter()


@asynccontextmanager
async def opened(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    """Yields the upstream, a choice of clients for each kind, and the JSON file's path."""
    timeout = settings.upstream_timeout
    with tempfile.TemporaryDirectory(prefix="lab-") as folder, httpx.Client(timeout=timeout, limits=_MANY) as sync:
        async with (
            opened_upstream(settings) as upstream,
            httpx.AsyncClient(timeout=timeout, limits=_MANY) as native,
        ):
            yield upstream | {
                "outbound_sync": {"new": partial(httpx.Client, timeout=timeout), "shared": partial(nullcontext, sync)},
                "outbound_async": {
                    "new": partial(httpx.AsyncClient, timeout=timeout),
                    "shared": partial(nullcontext, native),
                },
                "outbound_file": write_file(Path(folder)),
            }


def write_file(folder: Path) -> Path:
    """Writes a file with indented JSON of some 100 kB into `folder`, and returns the file's path."""
    path = folder / "records.json"
    records = [
        {"id": number, "name": f"record {number}", "tags": ["a", "b", "c"], "values": [number, number / 7, -number]}
        for number in range(_RECORDS)
    ]
    path.write_text(json.dumps(records, indent=2), encoding="utf-8")
    return path


def get(request: Request, ms: int, client: Which) -> Any:
    """Returns the upstream's answer, and blocks its thread until then. Raises LabUnavailable."""
    upstream = request.state.upstream
    with upstream.answering(), request.state.outbound_sync[client]() as http:
        return http.get(upstream.after(ms)).raise_for_status().json()


@router.get("/outbound/sync")
def outbound_sync(request: Request, ms: Milliseconds = 1000, client: Which = "new") -> Any:
    return get(request, ms, client)


@router.get("/outbound/async")
async def outbound_async(request: Request, ms: Milliseconds = 1000, client: Which = "new") -> Any:
    upstream = request.state.upstream
    with upstream.answering():
        async with asyncio.timeout(upstream.timeout), request.state.outbound_async[client]() as http:
            return (await http.get(upstream.after(ms))).raise_for_status().json()


@router.get("/outbound/async_sync_client")
async def outbound_async_sync_client(request: Request, ms: Milliseconds = 1000, client: Which = "new") -> Any:
    return get(request, ms, client)  # that it blocks the event loop is what is measured


@router.get("/json_file/sync")
def json_file_sync(request: Request) -> dict[str, int]:
    with request.state.outbound_file.open(encoding="utf-8") as file:
        return {"records": len(json.loads(file.read()))}


@router.get("/json_file/async")
async def json_file_async(request: Request) -> dict[str, int]:
    async with await anyio.open_file(request.state.outbound_file) as file:
        return {"records": len(json.loads(await file.read()))}


@router.get("/threads")
async def threads(request: Request) -> dict[str, int]:
    """Returns the numbers of threads while this request itself is still running."""
    return dict(request.state.threads.report())
