"""0.2.0: the handler enqueues the event, and leaves the billing work to a worker.

Problem: Chargebee waits while the handler does the billing work, and times out.
Change: the handler sends the event to SQS and answers. Each request builds its own boto3 client.
Cost: `send` blocks the event loop. Until SQS answers, the process serves no other request, not even a probe.
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

VERSION = "0.2.0"
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
    queue.send(to_message(event, body, fifo=queue.fifo))
    return queued(request)
