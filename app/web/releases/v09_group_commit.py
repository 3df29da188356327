"""0.9.0: group commit sends several messages in one call.

Problem: each webhook needs a call to SQS. The call costs money, and CPU time for signing, headers and parsing.
Change: webhooks that wait at the same time share one SendMessageBatch. Each still waits for its own acknowledgement.
Cost: a slow call delays up to ten webhooks instead of one, and webhooks wait in memory before they reach SQS.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request

from app.sqs.group_commit import GroupCommit, open_group_commit
from app.sqs.message import to_message
from app.sqs.native import open_queue
from app.web.service import Service
from app.web.webhook import Answer, ignored, queued, read_event

VERSION = "0.9.0"
CLIENT = "shared"
CONNECTIONS = 64
router = APIRouter()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, GroupCommit]]:
    service = Service.of(app)
    async with (
        open_queue(service.queue, service.limits(CONNECTIONS)) as queue,
        open_group_commit(queue, service.limits(), service.observe_calls) as group_commit,
    ):
        await queue.warm()
        yield {"queue": group_commit}


@router.post("/webhooks/chargebee")
async def receive(request: Request) -> Answer:
    body = await request.body()
    event = read_event(request, body)
    if event is None:
        return ignored(request)
    queue: GroupCommit = request.state.queue
    await queue.send(to_message(event, body, fifo=queue.fifo))
    return queued(request)
