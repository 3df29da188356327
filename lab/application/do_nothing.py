"""Question: what does each of these cost: the framework alone, reading or validating a body, calling another service?

Setup: five endpoints, each as `def` (in a thread) and as `async def` (on the event loop). If the name ends in `-body`,
FastAPI parses the JSON body; if it ends in `-model-body`, FastAPI also validates the body. If it ends in `-http`, the
handler calls another service, the upstream: in a thread by `requests.get`, and on the event loop by aiohttp with a new
session for each request. `do-something` parses the body and calls the upstream. The talk used a pod with a quarter of a
core and 200 threads, and sent 500 requests a second for 5 s. Here, there are two loads: a closed loop, and the
published open loop. One factor scales the open loop's rate and duration, so that this machine seems as fast as the
published machine (see `loadtest.calibrated`).

Published: requests a second, sync and async (appendix of the talk "How to make your application up to 20x slower with
FastAPI", 2024): do-nothing 462, 432; body 409, 411; model 355, 374; HTTP 160, 252; do-something 153, 212.

What to expect: an endpoint that does nothing needs two to three times as much CPU in a thread as on the event loop, so
`async def` answers more requests if the limit is the CPU and not the number of requests that are sent. Reading a JSON
body costs more CPU; validating it adds little. A call of another service costs more than any other step, because each
call makes a session. `requests.get` costs more than aiohttp.
"""

from functools import partial
from typing import Annotated, Any

import aiohttp
import requests
from fastapi import APIRouter, Body, Query, Request
from pydantic import BaseModel

from lab.application.upstream_client import Upstream, opened

__all__ = ["opened", "router"]

MOST_BYTES = 1024 * 1024
OK = {"status": "ok"}

router = APIRouter()
# As in the talk, FastAPI does not validate what a handler returns.
post = partial(router.post, response_model=None, max_body_size=MOST_BYTES)

Json = Annotated[dict[str, Any], Body()]
Key = Annotated[str, Query(max_length=100)]


class Invoice(BaseModel):
    """A few fields of Chargebee's invoice."""

    id: str
    customer_id: str
    status: str
    total: int
    currency_code: str


class Content(BaseModel):
    invoice: Invoice


class InvoiceEvent(BaseModel):
    id: str
    event_type: str
    occurred_at: int
    content: Content


def call(upstream: Upstream) -> None:
    """Calls the upstream by `requests.get`, which makes a new session. Raises LabUnavailable if the call fails."""
    with upstream.answering():
        requests.get(upstream.after(0), timeout=upstream.timeout).raise_for_status()


async def call_async(upstream: Upstream) -> None:
    """Calls the upstream with a new aiohttp session. Raises LabUnavailable if the call fails."""
    timeout = aiohttp.ClientTimeout(total=upstream.timeout)
    with upstream.answering():
        async with (
            aiohttp.ClientSession(timeout=timeout, raise_for_status=True) as session,
            session.get(upstream.after(0)) as response,
        ):
            await response.read()


@post("/do-nothing-sync")
def do_nothing_sync() -> dict[str, str]:
    return OK


@post("/do-nothing-async")
async def do_nothing_async() -> dict[str, str]:
    return OK


@post("/do-nothing-sync-body")
def do_nothing_sync_body(body: Json) -> dict[str, str]:
    return OK


@post("/do-nothing-async-body")
async def do_nothing_async_body(body: Json) -> dict[str, str]:
    return OK


@post("/do-nothing-sync-model-body")
def do_nothing_sync_model_body(event: InvoiceEvent) -> dict[str, str]:
    return OK


@post("/do-nothing-async-model-body")
async def do_nothing_async_model_body(event: InvoiceEvent) -> dict[str, str]:
    return OK


@post("/do-nothing-sync-http")
def do_nothing_sync_http(request: Request) -> dict[str, str]:
    call(request.state.upstream)
    return OK


@post("/do-nothing-async-http")
async def do_nothing_async_http(request: Request) -> dict[str, str]:
    await call_async(request.state.upstream)
    return OK


@post("/do-something-sync")
def do_something_sync(request: Request, body: Json, key: Key = "") -> dict[str, str]:
    call(request.state.upstream)
    return OK


@post("/do-something-async")
async def do_something_async(request: Request, body: Json, key: Key = "") -> dict[str, str]:
    await call_async(request.state.upstream)
    return OK
