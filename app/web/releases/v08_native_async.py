"""0.8.0: an asynchronous SQS client.

Problem: each webhook in flight occupies a thread that only waits for SQS.
Change: the handler awaits aioboto3 on the event loop. The lifespan opens one client with up to 64 connections.
Cost: all webhooks share one thread, so no code in their path may block.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request

from app.sqs.message import to_message
from app.sqs.native import NativeQueue, open_queue
from app.web.service import Service
from app.web.webhook import Answer, ignored, queued, read_event

VERSION = "0.8.0"
CLIENT = "shared"
CONNECTIONS = 64
router = APIRouter()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, NativeQueue]]:
    service = Service.of(app)
    async with open_queue(service.queue, service.limits(CONNECTIONS), service.observe_calls) as queue:
        await queue.warm()
        yield {"queue": queue}


@router.post("/webhooks/chargebee")
async def receive(request: Request) -> Answer:
    body = await request.body()
    event = read_event(request, body)
    if event is None:
        return ignored(request)
    queue: NativeQueue = request.state.queue
    await queue.send(to_message(event, body, fifo=queue.fifo))
    return queued(request)
