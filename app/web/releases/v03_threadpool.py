"""0.3.0: a thread sends the message.

Problem: a blocking `send` on the event loop delays every other request, probes included.
Change: `await run_in_threadpool(…)` makes a thread wait for SQS, and the event loop stays free.
Cost: each webhook in flight occupies one of 40 threads. The 41st webhook waits for a free thread.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.concurrency import run_in_threadpool

from app.sqs.blocking import BlockingQueue, build_queue
from app.sqs.message import to_message
from app.web.service import Service
from app.web.threads import set_tokens
from app.web.webhook import Answer, ignored, queued, read_event

VERSION = "0.3.0"
CLIENT = "per request"
TOKENS = 40
CONNECTIONS = 10
router = APIRouter()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    service = Service.of(app)
    set_tokens(service.settings.threadpool_tokens or TOKENS)
    BlockingQueue.warm(service.queue, service.limits(CONNECTIONS))
    yield


def open_queue(request: Request) -> BlockingQueue:
    service = Service.of(request.app)
    queue = build_queue(service.queue, service.limits(CONNECTIONS), service.observe_calls)
    queue.resolve()
    return queue


@router.post("/webhooks/chargebee")
async def receive(request: Request, queue: Annotated[BlockingQueue, Depends(open_queue)]) -> Answer:
    body = await request.body()
    event = read_event(request, body)
    if event is None:
        return ignored(request)
    await run_in_threadpool(queue.send, to_message(event, body, fifo=queue.fifo))
    return queued(request)
