"""0.6.0: one queue object for the life of the process.

Problem: on the event loop, each request builds a client, opens a connection and asks SQS for the queue's URL.
Change: the lifespan builds one queue object for all requests. It has one client, and reuses URL and connections.
Cost: each webhook in flight still needs a thread. Objects that threads share must be thread-safe (boto3 clients are).
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

VERSION = "0.6.0"
CLIENT = "shared"
TOKENS = 100
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


@router.post("/webhooks/chargebee")
async def receive(request: Request, queue: Annotated[BlockingQueue, Depends(open_queue)]) -> Answer:
    body = await request.body()
    event = read_event(request, body)
    if event is None:
        return ignored(request)
    await run_in_threadpool(queue.send, to_message(event, body, fifo=queue.fifo))
    return queued(request)
