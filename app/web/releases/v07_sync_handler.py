"""0.7.0: a sync handler with an async body dependency.

Problem: an async handler sends the message in a thread, but its other lines run on the event loop and can block it.
Change: FastAPI runs a plain `def` handler in one of 200 threads. An async dependency reads the body.
Cost: validation also runs in threads, and up to 200 threads compete for the GIL.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request

from app.sqs.blocking import BlockingQueue, build_queue
from app.sqs.message import to_message
from app.web.service import Service
from app.web.threads import set_tokens
from app.web.webhook import Answer, ignored, queued, read_event

VERSION = "0.7.0"
CLIENT = "shared"
TOKENS = 200
CONNECTIONS = 10
router = APIRouter()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, BlockingQueue]]:
    service = Service.of(app)
    set_tokens(service.settings.threadpool_tokens or TOKENS)
    yield {"queue": build_queue(service.queue, service.limits(CONNECTIONS), service.observe_calls)}


async def open_queue(request: Request) -> BlockingQueue:
    queue: BlockingQueue = request.state.queue
    return queue


async def read_body(request: Request) -> bytes:
    return await request.body()


@router.post("/webhooks/chargebee")
def receive(
    request: Request,
    queue: Annotated[BlockingQueue, Depends(open_queue)],
    body: Annotated[bytes, Depends(read_body)],
) -> Answer:
    event = read_event(request, body)
    if event is None:
        return ignored(request)
    queue.send(to_message(event, body, fifo=queue.fifo))
    return queued(request)
