"""Question: a request calls a slow service. What if an `async def` endpoint uses a sync client?

Setup: a slow service, the upstream, answers after `?ms=` (1 s in study 2).

    /outbound/sync                `def` with httpx.Client
    /outbound/async               `async def` with httpx.AsyncClient
    /outbound/async_sync_client   `async def` with httpx.Client, which blocks the event loop
    /json_file/sync, async        reads and parses a JSON file of some 100 kB, in a thread or with `anyio.open_file`
    /threads                      returns the number of threads of the process

With `?client=new`, each request makes a client, as published. With `?client=shared`, all requests of a process use one
client, which opens a connection for each call. Study 2 used 500 users, 1 worker and one minute.

Published (study 2, see `lab.application`):

                           requests   failed   requests a second   median   threads
    sync                      2,122        0                35.6    1.3 s        41
    async                     3,190        0                53.2    8.3 s         1
    async, sync client          785      732                13.1     27 s         1

What to expect: sync answers 40 threads ÷ 1 s = 40 requests a second, and async could answer 500 users ÷ 1 s = 500.
With a new client for each request, both answer only 30 to 40, because each new client reads the CA certificates, even
for http. Reading them takes some 20 ms of CPU, or 30 ms if many threads do it at the same time. Only the shared client
shows the gain of awaiting. Async with the sync client answers one request at a time. `anyio.open_file` is no faster
than `def`: it also uses threads, once each for opening, reading and closing the file.
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
# By default, httpx limits a client to 100 connections, so 400 of 500 users would wait for a connection. For each
# request, httpx also checks every connection of the pool, with a system call for each idle connection: 500 calls at the
# same time took 8 to 13 s of CPU with kept-alive connections, and 0.8 s without
# (https://github.com/encode/httpcore/pull/1035).
_MANY = httpx.Limits(max_connections=None, max_keepalive_connections=0)
_RECORDS = 600

router = APIRouter()


@asynccontextmanager
async def opened(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    """Yields the upstream, functions that make or share a client (sync or async), and the path of the JSON file."""
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
    """Blocks the thread until the upstream answers, and returns the answer. Raises LabUnavailable if the call fails."""
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
    return get(request, ms, client)  # blocks the event loop, which is what this endpoint measures


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
    """Returns the numbers of threads of this process: see `lab.application.counted_threads.ThreadCount`."""
    return dict(request.state.threads.report())
