"""1.0.0: a lean SQS client.

Problem: a general-purpose AWS client uses most of the CPU time that a webhook still takes.
Change: an SQS client of our own, for two API calls (`app/sqs/lean.py`).
Cost: the project maintains its own code for signatures, connections and retries. The client supports no HTTP proxy.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request

from app.sqs.group_commit import GroupCommit, open_group_commit
from app.sqs.lean import open_lean
from app.sqs.message import to_message
from app.web.service import Service
from app.web.webhook import Answer, ignored, queued, read_event

VERSION = "1.0.0"
CLIENT = "lean"
router = APIRouter()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, GroupCommit]]:
    service = Service.of(app)
    async with (
        open_lean(service.queue, service.limits()) as queue,
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
